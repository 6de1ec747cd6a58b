from modeldeployment.lab.bench import snapshots


def test_a_database_is_kept_under_its_name_and_the_hash_of_what_it_was_made_of() -> None:
    kept = snapshots.folder("fleet5", [b"crds", b"bodies"])
    assert kept.name.startswith("database-fleet5-")
    assert kept == snapshots.folder("fleet5", [b"crds", b"bodies"])


def test_a_database_made_of_other_parts_or_of_parts_cut_elsewhere_is_another() -> None:
    places = {
        snapshots.folder("fleet5", parts)
        for parts in ([b"crds", b"bodies"], [b"crds", b"other"], [b"crdsb", b"odies"], [b"crds"])
    }
    assert len(places) == 4
