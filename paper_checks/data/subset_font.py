"""Cut Latin Modern Math down to what the report needs: `python subset_font.py SOURCE.otf`.

Needs fonttools and brotli. The MATH table stays, or fractions and subscripts lose their shape.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

TARGET = Path(__file__).with_name("latinmodern-math-subset.woff2")
FAMILY = "Attention Geometry Math"  # the licence asks that a changed font carries another name
RANGES = (
    "20-7E A0 A7 AC B0-B1 B4 B7 D7 F7 131 237 300-308 30A 30C 332 338 391-3C9 3D1 3D5 3D6 3F0 3F1 "
    "3F5 2016 2020-2022 2026 2032-2034 2057 2061-2064 20D6 20D7 20DB 210B-2113 2115 2118-211D "
    "2124 212C 2130-2131 2133-2134 2190-2199 21A6 21C0-21CC 21D0-21D5 2200-22FF 2308-230B 2322 "
    "2323 23B4-23B5 23DC-23E1 25A1 25B3 25CB 27E8-27EB 27F5-27FC 2A00-2A06 2A3F 2A7D-2A7E "
    # italic, bold, bold italic, script, bold script, double-struck, sans bold, Greek, digits
    "1D400-1D4CF 1D4D0-1D503 1D538-1D56B 1D5D4-1D607 1D6A4-1D6A5 1D6A8-1D755 1D7CE-1D7E1"
)


def code_points() -> list[int]:
    """The characters to keep."""
    points = []
    for part in RANGES.split():
        first, _, last = part.partition("-")
        points += range(int(first, 16), int(last or first, 16) + 1)
    return points


def main(source: str) -> None:
    """Write the subset beside this file."""
    options = subset.Options(flavor="woff2", layout_features=["*"], name_IDs=["*"])
    options.drop_tables += ["FFTM"]
    font = subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=code_points())
    cutter.subset(font)
    for record in font["name"].names:
        if record.nameID in {1, 4, 16}:
            record.string = FAMILY
        elif record.nameID == 6:
            record.string = FAMILY.replace(" ", "") + "-Regular"
    subset.save_font(font, str(TARGET), options)
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
