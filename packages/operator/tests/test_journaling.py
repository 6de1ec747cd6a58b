"""The journal of the process: in memory always, in files where a directory is set."""

from pathlib import Path

import pytest
from modeldeployment.operator import Settings, SettingsError, journaling, load
from modeldeployment.scaler.journal import Recorded, decode, read
from people_journals import planned


def test_without_a_directory_the_last_passes_are_kept_in_memory_alone() -> None:
    with journaling.kept(Settings(scaler_journal_passes=2)) as journal:
        for seconds in (0, 15, 30):
            journal.append(planned(seconds))
        assert [decode(each) for each in journal.of("default", "chat")] == [planned(15), planned(30)]


def test_with_a_directory_every_pass_is_in_its_files_once_the_process_ends(tmp_path: Path) -> None:
    place = tmp_path / "made" / "when it is needed"
    with journaling.kept(Settings(scaler_journal_dir=place, scaler_journal_passes=0)) as journal:
        journal.append(planned(0))
        journal.append(planned(15))
    assert [each.line for each in read(place) if isinstance(each, Recorded)] == [planned(0), planned(15)]


def test_a_directory_that_cannot_be_made_is_said_in_the_log_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with journaling.kept(Settings(scaler_journal_dir=tmp_path / "file" / "below")) as journal:
        journal.append(planned(0))
        journal.append(planned(15))
    assert [(record.message, record.reason) for record in caplog.records] == [  # type: ignore[attr-defined]
        (
            "journal of scalers",
            f"{tmp_path}/file/below: Not a directory; passes are not recorded until it takes them",
        )
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("scaler-journal-files: 1", "Input should be greater than or equal to 2"),
        ("scaler-journal-file-bytes: 10", "Input should be greater than or equal to 65536"),
        ("scaler-journal-passes: -1", "Input should be greater than or equal to 0"),
        ("scaler-journal-dir: [a]", "Input is not a valid path"),
    ],
)
def test_a_size_that_cannot_be_is_refused_with_its_name(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=f"^setting {text.split(':')[0]} is .*: {why}"):
        load(file)
