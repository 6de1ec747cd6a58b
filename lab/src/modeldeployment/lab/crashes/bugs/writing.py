# ruff: noqa: E501 (quoted source stands in one line)
"""Bugs of the rim: requests, answers, and what is expected after a write."""

from typing import Final

from modeldeployment.lab.crashes.bugs.bug import Bug, bug

WRITING: Final[tuple[Bug, ...]] = (
    bug(
        "create-sent-twice",
        "a create whose answer was lost is sent again, under a name that the server makes",
        "client libraries that repeat a POST after a time-out; generateName and duplicate Pods",
        (
            "acting.py",
            "        except KubeError as error:\n            failures.append(error)\n",
            (
                "        except KubeError as error:\n            failures.append(error)\n"
                "            await client.create(_PODS_METADATA, body, target.key.namespace)\n"
            ),
        ),
    ),
    bug(
        "delete-without-uid",
        "objects are deleted by name alone, whoever bears the name by now",
        "StatefulSet before 1.5: a stale controller deletes the successor of the Pod it means",
        (
            "acting.py",
            "gone = await client.delete(kind, name, target.key.namespace, uid=uid)",
            "gone = await client.delete(kind, name, target.key.namespace)",
        ),
    ),
    bug(
        "gone-is-an-error",
        "a delete of what is gone already ends the pass with an error",
        "operators without IgnoreNotFound: controllers that retry for ever during teardown",
        (
            "acting.py",
            "    except (NotFound, Conflict):\n        return\n    if gone is not None:",
            "    except Conflict:\n        return\n    except NotFound as missing:\n        raise ObjectRefused(str(missing)) from missing\n    if gone is not None:",
        ),
    ),
    bug(
        "taken-is-an-error",
        "an object that somebody was faster to create ends the pass with an error",
        "controllers that treat AlreadyExists after their own lost create as a failure",
        ("acting.py", "    except AlreadyExists:\n        return\n", "    except AlreadyExists:\n        raise\n"),
    ),
    bug(
        "others-finalizers-dropped",
        "dropping the finalizer drops those of everybody",
        "controllers that set finalizers to an empty list when they are done",
        ("acting.py", "tuple(each for each in target.finalizers if each != keys.FINALIZER)", "()"),
    ),
    bug(
        "others-finalizers-replaced",
        "setting the finalizer replaces those that are there",
        "merge patches of a list: kubernetes/kubernetes, metadata.finalizers under JSON merge",
        ("acting.py", "(*target.finalizers, keys.FINALIZER)", "(keys.FINALIZER,)"),
    ),
    bug(
        "nothing-is-expected",
        "a pass does not wait until the stores have seen what the last one wrote",
        "ReplicaSet and StatefulSet before expectations: passes over a stale cache",
        (
            "expecting.py",
            "        if not wanted:\n            self._wanted.pop(key, None)\n        return not wanted\n",
            "        return True\n",
        ),
    ),
    bug(
        "conflict-ends-it",
        "a pass that lost a race is not taken again",
        "controllers that swallow 409 and wait for an event that has already been",
        ("deploying.py", "            return SHORTLY\n", "            return None\n"),
    ),
    bug(
        "no-second-look",
        "after a pass that wrote nobody looks again",
        "controllers that forget to requeue while something is in flight",
        ("deploying.py", "return _sooner(SOON.total_seconds(), resting)", "return resting"),
    ),
    bug(
        "status-without-version",
        "status is written whatever version stands by now",
        "lost updates of status: a pass over a deleted object writes to its successor",
        (
            "acting.py",
            'body = {"metadata": {"resourceVersion": target.resource_version}, "status": status}',
            'body = {"status": status}',
        ),
    ),
    bug(
        "foreign-named-ours",
        "on the API server whatever carries our labels counts as ours, whoever owns it",
        "label-selected adoption: ReplicationControllers that fought over Pods before controllerRef",
        (
            "answering.py",
            "    return uid in observing.controllers(meta.owner_references)",
            "    return bool(uid and meta)",
        ),
    ),
    bug(
        "failed-create-swallowed",
        "a pass whose creates failed ends as if they had not, and nobody looks again",
        "controllers that log a failed create and return",
        ("acting.py", "    if failed is not None:\n        raise failed\n", ""),
        ("deploying.py", "return _sooner(SOON.total_seconds(), resting)", "return resting"),
    ),
    bug(
        "index-keeps-the-gone",
        "an object that is gone stays in the indexes of its store",
        "client-go issue of stale index entries; controllers that wait for Pods which are long gone",
        (
            "kube/store.py",
            "        for name, index_of in self._index_of.items():\n            _unfile(self._indexes[name], key, index_of(old))\n        self._tell(old, None)\n",
            "        self._tell(old, None)\n",
        ),
    ),
    bug(
        "lists-only-add",
        "a list adds what it names and takes out nothing",
        "informers whose relist missed deletions: tombstones nobody handled",
        (
            "kube/store.py",
            "        for key, old in [item for item in self._objects.items() if item[0] not in present]:\n            self._take_out(key, old)\n",
            "",
        ),
    ),
)
