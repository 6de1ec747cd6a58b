import subprocess
import sys

import modeldeployment.api as front_door
import pytest

LATER = ("algorithms", "artifact", "crds", "guards", "kvbackend", "kvpool", "reference", "scaler", "scalerstatus")


def test_what_rendering_does_not_read_is_imported_when_it_is_asked_for() -> None:
    program = (
        "import sys, modeldeployment.api as api\n"
        "print(*sorted(name for name in sys.modules if name.startswith('modeldeployment.api.')), sep='\\n')\n"
        "assert api.ModelDeploymentScaler.__name__ == 'ModelDeploymentScaler'\n"
        "assert api.crds.crds"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {f"modeldeployment.api.{name}" for name in LATER} & set(ran.stdout.split()) == set()


def test_words_and_amounts_need_no_library_of_models() -> None:
    program = (
        "import sys, modeldeployment.api as api\n"
        "assert api.RoleKind.PREFILL.label == 'prefill' and str(api.Quantity.parse('1024Mi')) == '1Gi'\n"
        "print('pydantic' in sys.modules, api.ModelDeployment.__name__, 'pydantic' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False ModelDeployment True\n"


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Deployment'"):
        _ = front_door.Deployment


def test_every_name_leads_to_what_its_module_calls_so() -> None:
    assert front_door.KVCachePool.__module__ == "modeldeployment.api.kvpool"
    assert front_door.Binding.__module__ == "modeldeployment.api.binding"
    assert front_door.ModelArtifact.__module__ == "modeldeployment.api.artifact"
