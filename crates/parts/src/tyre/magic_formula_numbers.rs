//! The numbers of the Magic Formula 5.2 and 6.1 by their names in tyre files (Pacejka 2012, "Tire and vehicle dynamics", chapter 4).

/// The list of numbers: field, name in files, value where a file leaves it out.
macro_rules! numbers {
    ($($field:ident $name:literal $default:literal,)+) => {
        /// Numbers of a tyre; those that a file leaves out are zero, factors of scale one.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Numbers {
            $(#[doc = $name] pub $field: f64,)+
        }

        impl Default for Numbers {
            fn default() -> Numbers {
                Numbers { $($field: $default,)+ }
            }
        }

        impl Numbers {
            /// Names in files.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The number of this name.
            pub fn named(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $($name => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

numbers! {
    pcx1 "PCX1" 1.0, pdx1 "PDX1" 0.0, pdx2 "PDX2" 0.0, pdx3 "PDX3" 0.0, pex1 "PEX1" 0.0, pex2 "PEX2" 0.0, pex3 "PEX3" 0.0, pex4 "PEX4" 0.0,
    pkx1 "PKX1" 0.0, pkx2 "PKX2" 0.0, pkx3 "PKX3" 0.0, phx1 "PHX1" 0.0, phx2 "PHX2" 0.0, pvx1 "PVX1" 0.0, pvx2 "PVX2" 0.0,
    ppx1 "PPX1" 0.0, ppx2 "PPX2" 0.0, ppx3 "PPX3" 0.0, ppx4 "PPX4" 0.0,
    rbx1 "RBX1" 0.0, rbx2 "RBX2" 0.0, rbx3 "RBX3" 0.0, rcx1 "RCX1" 1.0, rex1 "REX1" 0.0, rex2 "REX2" 0.0, rhx1 "RHX1" 0.0,
    ptx1 "PTX1" 0.0, ptx2 "PTX2" 0.0, ptx3 "PTX3" 0.0, pty1 "PTY1" 0.0, pty2 "PTY2" 1.0,
    pcy1 "PCY1" 1.0, pdy1 "PDY1" 0.0, pdy2 "PDY2" 0.0, pdy3 "PDY3" 0.0,
    pey1 "PEY1" 0.0, pey2 "PEY2" 0.0, pey3 "PEY3" 0.0, pey4 "PEY4" 0.0, pey5 "PEY5" 0.0,
    pky1 "PKY1" 0.0, pky2 "PKY2" 1.0, pky3 "PKY3" 0.0, pky4 "PKY4" 2.0, pky5 "PKY5" 0.0, pky6 "PKY6" 0.0, pky7 "PKY7" 0.0,
    phy1 "PHY1" 0.0, phy2 "PHY2" 0.0, phy3 "PHY3" 0.0, pvy1 "PVY1" 0.0, pvy2 "PVY2" 0.0, pvy3 "PVY3" 0.0, pvy4 "PVY4" 0.0,
    ppy1 "PPY1" 0.0, ppy2 "PPY2" 0.0, ppy3 "PPY3" 0.0, ppy4 "PPY4" 0.0, ppy5 "PPY5" 0.0,
    rby1 "RBY1" 0.0, rby2 "RBY2" 0.0, rby3 "RBY3" 0.0, rby4 "RBY4" 0.0, rcy1 "RCY1" 1.0, rey1 "REY1" 0.0, rey2 "REY2" 0.0,
    rhy1 "RHY1" 0.0, rhy2 "RHY2" 0.0,
    rvy1 "RVY1" 0.0, rvy2 "RVY2" 0.0, rvy3 "RVY3" 0.0, rvy4 "RVY4" 0.0, rvy5 "RVY5" 0.0, rvy6 "RVY6" 0.0,
    qbz1 "QBZ1" 0.0, qbz2 "QBZ2" 0.0, qbz3 "QBZ3" 0.0, qbz4 "QBZ4" 0.0, qbz5 "QBZ5" 0.0, qbz9 "QBZ9" 0.0, qbz10 "QBZ10" 0.0,
    qcz1 "QCZ1" 1.0, qdz1 "QDZ1" 0.0, qdz2 "QDZ2" 0.0, qdz3 "QDZ3" 0.0, qdz4 "QDZ4" 0.0, qdz6 "QDZ6" 0.0, qdz7 "QDZ7" 0.0,
    qdz8 "QDZ8" 0.0, qdz9 "QDZ9" 0.0, qdz10 "QDZ10" 0.0, qdz11 "QDZ11" 0.0,
    qez1 "QEZ1" 0.0, qez2 "QEZ2" 0.0, qez3 "QEZ3" 0.0, qez4 "QEZ4" 0.0, qez5 "QEZ5" 0.0,
    qhz1 "QHZ1" 0.0, qhz2 "QHZ2" 0.0, qhz3 "QHZ3" 0.0, qhz4 "QHZ4" 0.0, ppz1 "PPZ1" 0.0, ppz2 "PPZ2" 0.0,
    ssz1 "SSZ1" 0.0, ssz2 "SSZ2" 0.0, ssz3 "SSZ3" 0.0, ssz4 "SSZ4" 0.0,
    qsx1 "QSX1" 0.0, qsx2 "QSX2" 0.0, qsx3 "QSX3" 0.0,
    qsy1 "QSY1" 0.0, qsy2 "QSY2" 0.0, qsy3 "QSY3" 0.0, qsy4 "QSY4" 0.0,
    lfzo "LFZO" 1.0, lcx "LCX" 1.0, lmux "LMUX" 1.0, lex "LEX" 1.0, lkx "LKX" 1.0, lhx "LHX" 1.0, lvx "LVX" 1.0, lgax "LGAX" 1.0,
    lxal "LXAL" 1.0, lsgkp "LSGKP" 1.0, lsgal "LSGAL" 1.0,
    lcy "LCY" 1.0, lmuy "LMUY" 1.0, ley "LEY" 1.0, lky "LKY" 1.0, lhy "LHY" 1.0, lvy "LVY" 1.0, lgay "LGAY" 1.0,
    lyka "LYKA" 1.0, lvyka "LVYKA" 1.0, ltr "LTR" 1.0, lres "LRES" 1.0, lgaz "LGAZ" 1.0, ls "LS" 1.0,
    lmx "LMX" 1.0, lvmx "LVMX" 1.0, lmy "LMY" 1.0, lkyc "LKYC" 1.0, lkzc "LKZC" 1.0,
}
