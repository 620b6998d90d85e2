#!/usr/bin/env python3
"""Prints what a library makes of texts in many locales: orders, letters, comparisons, patterns, periods of time.

The library of a wheel has a part of ICU's data, and must print what one with all of it prints: texts.py STORE, with an
empty path.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Optional

import quire

LOCALES = """
    af am ar as az be bg bn bo bs ca ceb chr cs cy da de de@collation=phonebook de_AT dsb ee el en en_US
    en_US_POSIX eo es es@collation=traditional et fa fi fil fo fr fr_CA gl gu ha haw he hi hr hsb hu hy id ig is
    it ja ka kk kl km kn ko kok ku ky lb lkt ln lo lt lv mk ml mn mr ms mt my nb ne nl nn nso om or pa pl ps pt
    ro ru se si sk sl sq sr sr_Latn sv sv@collation=traditional sw ta te th tk tn to tr ug uk ur uz vi wo xh yi
    yo zh zh@collation=stroke zh@collation=zhuyin zh_Hant zu""".split()
WORDS = """
    Zoo zoo Äpple apple Öl öl Ångström ångström Zebra čaj chata cukr ch llama lugar ñandú naranja œuvre oeuvre straße
    strasse İzmir ızgara istanbul Ighil łódź lodz Đorđe dzs dž dz šála žába éclair Eclair résumé resume gyár ny nyár sz
    ц щ ё е й и ї і ґ г Ω ω ά α ქართული հայ אב اب ب پ گ क ख ക ก ไก่ ເກ ကခ ខ្ញុំ 한국 가나 日本 東京 北京 上海 あ ア ｱ 重庆 一
    ㄅ ㄆ ﬁn fin １２ 12 Ⅷ viii e\u0301a \u00e9a A\u030a""".split()
OPERATORS = "==[c] ==[cd] <[l] >=[cdl] CONTAINS[cd] BEGINSWITH[l] CONTAINS[cdl] ENDSWITH[cd] LIKE[cd]".split()
PATTERNS = r"""
    .*\N{LATIN_SMALL_LETTER_A}.* .*\p{Lu}.* \X+ (?w)\b\w+\b .*\p{Script=Han}.* (?i)STRASSE [[:alpha:]--[a-z]]+
    .*\p{Block=Cyrillic}.* \p{Age=1.1}+ (?i)İ.*""".split()
ZONES = "UTC Europe/Berlin America/St_Johns Asia/Kathmandu Pacific/Apia Asia/Calcutta US/Eastern GMT+3".split()


class Word(quire.Model):
    text: quire.Attr[str]
    heard_at: quire.Attr[Optional[datetime]] = quire.attr(default=None)


def show(what: str, answer: Callable[[], object]) -> None:
    try:
        print(what, answer(), sep="\t")
    except quire.Error as error:
        print(what, error, sep="\t")


def main(path: str) -> None:
    print(quire.icu_version)
    with quire.open(path, [Word]) as store:
        words = store.context.query(Word)
        start = datetime(2011, 12, 28, tzinfo=timezone.utc)
        for place, text in enumerate(WORDS):
            store.context.add(Word(text=text, heard_at=start + timedelta(hours=7 * place)))
        store.context.save()

        def sections(rule: quire.sections.SectionRule) -> object:
            live = words.order_by(Word.heard_at).live(section_by=rule)
            return [(section.name, section.index_title, [word.text for word in section]) for section in live.sections]

        def found(condition: str, text: str) -> object:
            return [word.text for word in words.where(condition, text).order_by(Word.heard_at)]

        rules = quire.sections
        for locale in LOCALES:
            show(f"letters {locale}", lambda: sections(rules.by_letter(Word.text, locale=locale)))
            show(f"order {locale}", lambda: sections(rules.by_value(Word.text, text="localized", locale=locale)))
            show(f"weeks {locale}", lambda: sections(rules.by_week(Word.heard_at, locale=locale)))
        for operator in OPERATORS:
            for text in ("ss", "a", "e", "Œ", "Ä", "ch", "ｱ", "i", "北"):
                show(f"{operator} {text}", lambda: found(f"text {operator} %@", text))
        for pattern in PATTERNS:
            show(pattern, lambda: found("text MATCHES %@", pattern.replace("_", " ")))
        for zone in ZONES:
            show(f"days {zone}", lambda: sections(rules.by_day(Word.heard_at, time_zone=zone)))
            show(f"months {zone}", lambda: sections(rules.by_month(Word.heard_at, time_zone=zone)))


if __name__ == "__main__":
    main(sys.argv[1])
