from render_worlds import main, one_pod


def test_pull_policy_and_secrets_are_passed_on() -> None:
    pod = one_pod(imagePullPolicy="Always", imagePullSecrets=[{"name": "registry"}, {"name": "mirror"}])
    assert main(pod)["imagePullPolicy"] == "Always"
    assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}, {"name": "mirror"}]


def test_an_unset_overlay_leaves_kubernetes_defaults() -> None:
    pod = one_pod()
    assert not {"imagePullPolicy", "securityContext", "volumeMounts"} & set(main(pod))
    assert not {"imagePullSecrets", "volumes", "securityContext", "runtimeClassName", "nodeSelector"} & set(pod["spec"])


def test_privilege_is_given_only_when_asked() -> None:
    assert main(one_pod(privileged=True))["securityContext"] == {"privileged": True}
    assert "securityContext" not in main(one_pod(privileged=False))


def test_additional_volumes_are_mounted_in_order() -> None:
    pod = one_pod(
        additionalVolumes=[
            {"mountPath": "/etc/chat", "configMap": {"name": "templates"}, "readOnly": True},
            {"mountPath": "/nothing"},
            {"mountPath": "/run/token", "secret": {"name": "hub"}, "subPath": "token"},
            {"mountPath": "/models", "hostPath": {"path": "/srv/models", "type": "Directory"}},
        ]
    )
    assert pod["spec"]["volumes"] == [
        {"name": "additional-0", "configMap": {"name": "templates"}},
        {"name": "additional-2", "secret": {"secretName": "hub"}},
        {"name": "additional-3", "hostPath": {"path": "/srv/models", "type": "Directory"}},
    ]
    assert main(pod)["volumeMounts"] == [
        {"name": "additional-0", "mountPath": "/etc/chat", "readOnly": True},
        {"name": "additional-2", "mountPath": "/run/token", "subPath": "token"},
        {"name": "additional-3", "mountPath": "/models"},
    ]


def test_of_several_sources_config_map_counts_before_secret_before_host_path() -> None:
    every = {"configMap": {"name": "c"}, "secret": {"name": "s"}, "hostPath": {"path": "/h"}}
    assert one_pod(additionalVolumes=[{"mountPath": "/m", **every}])["spec"]["volumes"] == [
        {"name": "additional-0", "configMap": {"name": "c"}}
    ]
    del every["configMap"]
    assert one_pod(additionalVolumes=[{"mountPath": "/m", **every}])["spec"]["volumes"] == [
        {"name": "additional-0", "secret": {"secretName": "s"}}
    ]
