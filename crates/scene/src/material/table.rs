//! The rows: materials and pairs, each with its source. Where a source gives a range, the middle of it stands here. Woods are
//! taken as alike in all directions: along or across says which way they are pressed.

use super::{Material, PairData};

const MODIA3D: &str = "Modia3D palettes (Neumayr and Otter 2019)";
const CALLISTER: &str = "Callister and Rethwisch 2014, Materials Science and Engineering, 9th ed., tables B.1 (density), B.2 (modulus), B.3 (Poisson)";
const ASHBY: &str = "Ashby 2011, Materials Selection in Mechanical Design, 4th ed., appendix A (density, modulus); Poisson's ratio chosen";
const EN_338: &str =
    "EN 338:2016, table 1 (mean density and moduli); Wood Handbook 2010 (FPL-GTR-190), table 5-2 (Poisson)";
const WOOD: &str =
    "Wood Handbook 2010 (FPL-GTR-190), tables 5-1 and 5-2 (ratios), 5-3 (density and modulus at 12 % moisture)";
const LINDLEY: &str = "Lindley 1974, Engineering Design with Natural Rubber, table of modulus by hardness; density and Poisson's ratio chosen";
const GOODMAN: &str =
    "Goodman 1989, Introduction to Rock Mechanics, 2nd ed., tables 2.3 (density) and 6.1 (elastic constants)";
const MARKS: &str = "Avallone and Baumeister 1996, Marks' Standard Handbook for Mechanical Engineers, 10th ed., table 3.2.1, dry sliding";
const SERWAY: &str = "Serway and Jewett 2014, Physics for Scientists and Engineers, 9th ed., table 5.1, sliding";
const ENGINEERS: &str = "Engineer's Handbook, reference table of coefficients of friction, dry, middle of the range";

const fn material(name: &'static str, density: f64, young: f64, poisson: f64, source: &'static str) -> Material {
    Material { name, density, young, poisson, touches_as: name, source }
}

/// A material that touches as another one does.
const fn kind(
    name: &'static str,
    touches_as: &'static str,
    [density, young, poisson]: [f64; 3],
    source: &'static str,
) -> Material {
    Material { name, density, young, poisson, touches_as, source }
}

/// The built-in materials.
pub const MATERIALS: [Material; 65] = [
    material("steel", 8000.0, 2.0e11, 0.30, MODIA3D),
    material("aluminium", 2700.0, 6.9e10, 0.32, MODIA3D),
    material("dry_wood", 700.0, 1.1e10, 0.40, MODIA3D),
    material(
        "glass",
        2500.0,
        7.0e10,
        0.22,
        "EN 572-1:2012, table 1, soda-lime; Poisson's ratio in the published 0.20 to 0.23",
    ),
    material("billiard_ball", 1768.0, 5.4e9, 0.34, MODIA3D),
    material("billiard_table", 700.0, 1.1e10, 0.40, MODIA3D),
    material("billiard_cushion", 700.0, 1.1e10, 0.40, MODIA3D),
    material("billiard_cue", 700.0, 1.1e10, 0.40, MODIA3D),
    // metals
    kind(
        "structural_steel",
        "steel",
        [7850.0, 2.10e11, 0.30],
        "EN 1993-1-1:2005, 3.2.6; EN 1991-1-1:2002, table A.4 (density)",
    ),
    kind("alloy_steel", "steel", [7850.0, 2.07e11, 0.30], CALLISTER),
    kind("stainless_steel", "steel", [8000.0, 1.93e11, 0.30], CALLISTER),
    kind("ductile_iron", "cast_iron", [7100.0, 1.69e11, 0.29], CALLISTER),
    material("cast_iron", 7300.0, 1.015e11, 0.26, CALLISTER),
    kind("aluminium_2024", "aluminium", [2770.0, 7.24e10, 0.33], CALLISTER),
    kind("aluminium_6061", "aluminium", [2700.0, 6.9e10, 0.33], CALLISTER),
    kind("aluminium_7075", "aluminium", [2800.0, 7.1e10, 0.33], CALLISTER),
    material("copper", 8890.0, 1.15e11, 0.33, CALLISTER),
    kind("beryllium_copper", "copper", [8250.0, 1.28e11, 0.30], CALLISTER),
    material("brass", 8530.0, 1.10e11, 0.35, CALLISTER),
    material("bronze", 8930.0, 1.00e11, 0.34, CALLISTER),
    material("magnesium", 1770.0, 4.5e10, 0.35, CALLISTER),
    material("titanium", 4510.0, 1.03e11, 0.34, CALLISTER),
    kind("titanium_6al4v", "titanium", [4430.0, 1.14e11, 0.34], CALLISTER),
    material("nickel", 8890.0, 2.04e11, 0.31, CALLISTER),
    kind("inconel_625", "nickel", [8440.0, 2.07e11, 0.31], CALLISTER),
    material("tungsten", 19300.0, 4.00e11, 0.28, CALLISTER),
    material("zinc", 7170.0, 1.045e11, 0.25, CALLISTER),
    material("tin", 7300.0, 4.43e10, 0.33, CALLISTER),
    material("lead", 11340.0, 1.35e10, 0.44, CALLISTER),
    material("silver", 10490.0, 7.4e10, 0.37, CALLISTER),
    material("gold", 19320.0, 7.7e10, 0.42, CALLISTER),
    // glass and ceramics
    kind("borosilicate_glass", "glass", [2230.0, 7.0e10, 0.20], CALLISTER),
    kind("fused_silica", "glass", [2200.0, 7.3e10, 0.17], CALLISTER),
    material("alumina", 3980.0, 3.80e11, 0.22, CALLISTER),
    material("silicon_nitride", 3300.0, 3.04e11, 0.28, CALLISTER),
    material("silicon_carbide", 3200.0, 3.45e11, 0.17, CALLISTER),
    material("zirconia", 6000.0, 2.05e11, 0.31, CALLISTER),
    // stone, concrete, ice
    material(
        "concrete",
        2400.0,
        3.3e10,
        0.20,
        "EN 1992-1-1:2004, table 3.1 (C30/37) and 3.1.3; EN 1991-1-1:2002, table A.1 (density)",
    ),
    material("granite", 2650.0, 7.05e10, 0.18, GOODMAN),
    material("sandstone", 2200.0, 1.93e10, 0.38, GOODMAN),
    material("marble", 2750.0, 5.58e10, 0.25, GOODMAN),
    material(
        "ice",
        917.0,
        9.33e9,
        0.325,
        "Gammon, Kiefte, Clouter and Denner 1983, Journal of Glaciology 29, 433: isotropic, -16 C",
    ),
    // plastics
    material("pa6", 1130.0, 2.91e9, 0.39, ASHBY),
    material("pa66", 1140.0, 2.69e9, 0.39, CALLISTER),
    material("pom", 1410.0, 2.85e9, 0.37, "Hostaform C 9021 data sheet (ISO 1183, ISO 527); Poisson's ratio chosen"),
    material("ptfe", 2170.0, 4.75e8, 0.46, CALLISTER),
    material("pe_hd", 959.0, 1.08e9, 0.46, CALLISTER),
    material(
        "pe_uhmw",
        940.0,
        6.9e8,
        0.46,
        "Callister and Rethwisch 2014, 9th ed., tables B.1, B.2; Poisson's ratio that of pe_hd",
    ),
    material(
        "pp",
        905.0,
        1.345e9,
        0.42,
        "Callister and Rethwisch 2014, 9th ed., tables B.1, B.2; Poisson's ratio chosen",
    ),
    material("pc", 1200.0, 2.38e9, 0.36, CALLISTER),
    material(
        "pmma",
        1190.0,
        2.74e9,
        0.38,
        "Callister and Rethwisch 2014, 9th ed., tables B.1, B.2; Poisson's ratio chosen",
    ),
    material("abs", 1110.0, 2.0e9, 0.39, ASHBY),
    material("pvc", 1440.0, 3.28e9, 0.38, CALLISTER),
    material("ps", 1050.0, 2.78e9, 0.33, CALLISTER),
    material("peek", 1310.0, 3.85e9, 0.40, ASHBY),
    // rubbers, by hardness in IRHD
    kind("rubber_40", "rubber", [1000.0, 1.50e6, 0.4995], LINDLEY),
    material("rubber", 1100.0, 4.45e6, 0.4995, LINDLEY),
    kind("rubber_75", "rubber", [1200.0, 9.40e6, 0.4995], LINDLEY),
    // woods, leather, cork
    kind("softwood_along", "dry_wood", [420.0, 1.10e10, 0.37], EN_338),
    kind("softwood_across", "dry_wood", [420.0, 3.7e8, 0.43], EN_338),
    kind("hardwood_along", "oak", [640.0, 1.10e10, 0.35], EN_338),
    kind("hardwood_across", "oak", [640.0, 7.3e8, 0.29], EN_338),
    material("oak", 630.0, 1.25e10, 0.35, WOOD),
    material("leather", 930.0, 3.0e8, 0.40, ASHBY),
    material(
        "cork",
        170.0,
        1.3e7,
        0.10,
        "Gibson, Easterling and Ashby 1981, Proceedings of the Royal Society A 377, 99",
    ),
];

const fn pair(
    first: &'static str,
    second: &'static str,
    [restitution, friction, rolling]: [f64; 3],
    source: &'static str,
) -> PairData {
    PairData { first, second, restitution: Some(restitution), friction: Some(friction), rolling, source }
}

/// A pair of which the sources know the friction only.
const fn slides(first: &'static str, second: &'static str, friction: f64, source: &'static str) -> PairData {
    PairData { first, second, restitution: None, friction: Some(friction), rolling: 0.0, source }
}

/// The built-in pairs.
pub const PAIRS: [PairData; 41] = [
    pair("steel", "steel", [0.7, 0.5, 0.001], MODIA3D),
    pair("dry_wood", "dry_wood", [0.6, 0.3, 0.001], MODIA3D),
    pair("aluminium", "aluminium", [0.7, 0.5, 0.001], MODIA3D),
    pair("billiard_ball", "billiard_ball", [1.0, 0.0, 0.0], MODIA3D),
    pair("billiard_ball", "billiard_table", [0.0, 0.8, 0.01], MODIA3D),
    pair("billiard_ball", "billiard_cushion", [0.98, 0.0, 0.0], MODIA3D),
    pair("billiard_ball", "billiard_cue", [0.98, 0.0, 0.0], MODIA3D),
    pair("billiard_table", "billiard_cue", [0.0, 0.8, 0.01], MODIA3D),
    pair("billiard_cue", "billiard_cue", [0.98, 0.0, 0.0], MODIA3D),
    pair(
        "glass",
        "glass",
        [0.9375, 0.40, 0.0],
        "restitution 15/16: Newton 1687, Principia, scholium of the laws of motion; friction: Serway and Jewett 2014, table 5.1",
    ),
    slides("steel", "cast_iron", 0.23, MARKS),
    slides("steel", "brass", 0.44, MARKS),
    slides("steel", "copper", 0.36, MARKS),
    slides("steel", "nickel", 0.64, MARKS),
    slides("steel", "lead", 0.95, MARKS),
    slides("steel", "magnesium", 0.42, MARKS),
    slides("steel", "ptfe", 0.04, MARKS),
    slides("steel", "pa66", 0.40, ENGINEERS),
    slides("steel", "pa6", 0.40, ENGINEERS),
    slides("steel", "pmma", 0.45, ENGINEERS),
    slides("steel", "ps", 0.33, ENGINEERS),
    slides("steel", "pe_hd", 0.20, ENGINEERS),
    slides("cast_iron", "cast_iron", 0.15, MARKS),
    slides("cast_iron", "bronze", 0.22, MARKS),
    slides("cast_iron", "copper", 0.29, MARKS),
    slides("cast_iron", "zinc", 0.21, MARKS),
    slides("cast_iron", "oak", 0.49, MARKS),
    slides("cast_iron", "leather", 0.56, MARKS),
    slides("nickel", "nickel", 0.53, MARKS),
    slides("nickel", "glass", 0.56, MARKS),
    slides("copper", "glass", 0.53, MARKS),
    slides("magnesium", "magnesium", 0.60, MARKS),
    slides("oak", "oak", 0.48, MARKS),
    slides("oak", "leather", 0.52, MARKS),
    slides("rubber", "concrete", 0.80, SERWAY),
    slides("ptfe", "ptfe", 0.04, SERWAY),
    slides("ice", "ice", 0.03, SERWAY),
    slides("pa66", "pa66", 0.20, ENGINEERS),
    slides("pa6", "pa6", 0.20, ENGINEERS),
    slides("pmma", "pmma", 0.80, ENGINEERS),
    slides("ps", "ps", 0.50, ENGINEERS),
];
