"""No number without its source."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import get_args

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.provenance import CatalogEntry, Kind, Source, catalog_entry

CATALOGS = [ph.devices, ph.workloads, ph.ops, ph.memory_hierarchy, ph.fusion_strategies]
ENTRIES = [entry for catalog in CATALOGS for entry in catalog.values()]
ENTRIES.append(ph.normalization)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{type(entry).__name__}-{entry.key}")
def test_every_number_has_a_source(entry: CatalogEntry) -> None:
    numbers = {f.name for f in fields(entry) if isinstance(getattr(entry, f.name), (int, float))}
    told = {name for name, *_ in entry.facts()}
    assert numbers <= told
    assert told  # an entry without numbers would pass everything
    for name, value, unit, origin in entry.facts():
        assert entry.provenance[name] is origin
        assert origin.source, name
        assert origin.date[:2] == "20", name
        assert origin.kind in get_args(Kind), name
        assert ph.format_quantity(value, unit) != ph.NEVER


def test_every_peak_has_a_source() -> None:
    for device in ph.devices.values():
        for key in device.peaks:
            assert device.provenance[f"peak {key}"].source
        for field in ("peak", "bandwidth", "memory", "power"):
            assert device.provenance[field].source
        assert (device.launch_overhead is None) == ("launch_overhead" not in device.provenance)


def test_a_number_without_a_source_cannot_be_built() -> None:
    kws = ph.workloads["kws"]
    with pytest.raises(TypeError, match="kws: kernels has no provenance"):
        replace(kws, provenance={k: v for k, v in kws.provenance.items() if k != "kernels"})
    with pytest.raises(TypeError, match="has no provenance"):
        catalog_entry(ph.Inference, "mine", "Mine", operations=1e9, data=1e6)


def test_facts_keep_their_note() -> None:
    guess = Source("somebody", "2026-11", "estimate").fact(3.0, "roughly")
    made = catalog_entry(ph.Inference, "mine", "Mine", operations=guess, data=guess)
    assert made.operations == 3.0
    assert made.provenance["data"].note == "roughly"


def test_entries_are_read_only_and_survive_pickling() -> None:
    for entry in ENTRIES:
        assert pickle.loads(pickle.dumps(entry)) == entry
        with pytest.raises(TypeError):
            entry.provenance["x"] = entry.provenance  # type: ignore[index]
        with pytest.raises(AttributeError):
            entry.key = "other"  # type: ignore[misc]


def test_kernel_work_is_one_number_wherever_it_is_counted() -> None:
    # Layer norm costs the same per element in a chain and on the roofline.
    assert ph.ops["layernorm"].flops_per_element == ph.normalization.flops_per_element
    assert ph.ops["softmax"].flops_per_element == ph.normalization.flops_per_element
