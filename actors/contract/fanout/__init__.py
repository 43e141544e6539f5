"""A fan-out: its specification, the template that turns an item into a prompt, its items and its results."""

from showcaller.actors.contract.fanout.items import (
    Item,
    check_item,
    compact_json,
    read_items_jsonl,
    text_items,
)
from showcaller.actors.contract.fanout.results import ItemResult, ItemStatus, Summary
from showcaller.actors.contract.fanout.spec import FanoutSpec
from showcaller.actors.contract.fanout.template import Kind, Template, note_for, parse_template, render

__all__ = [
    "FanoutSpec",
    "Item",
    "ItemResult",
    "ItemStatus",
    "Kind",
    "Summary",
    "Template",
    "check_item",
    "compact_json",
    "note_for",
    "parse_template",
    "read_items_jsonl",
    "render",
    "text_items",
]
