//! Surfaces that are drawn and nothing else: x, y, z as equations of two parameters u and v, of time and of what a run records.

use tippe_format::equation::Dimension;
use tippe_format::key::{Form, Range, Spec, any, equation, key, measure, vector, word};

/// What the equations know besides time and signals: the two parameters of the surface.
pub const NAMES: [&str; 2] = ["u", "v"];
/// Squares of one surface along u or v at most [-].
pub const MOST: u32 = 500;

/// Which part of a surface has a colour of its own.
pub const COLOURED: [&str; 3] = ["vertex", "triangle", "shape"];

/// A drawn surface, as scenes know it.
pub const KIND: Spec = Spec {
    word: "surface",
    about: "A surface that is drawn, and touches nothing: three equations over u, v, time and signals",
    keys: &[&[
        key("on", Form::Frame, "The frame it moves with").required("a frame of a body, or \"world\""),
        key("u", Form::Vector(2, measure(Dimension::ONE, Range::Any)), "From where to where u runs; default [0, 1]"),
        key("v", Form::Vector(2, measure(Dimension::ONE, Range::Any)), "From where to where v runs; default [0, 1]"),
        key(
            "grid",
            Form::Vector(2, measure(Dimension::ONE, Range::Between(1, MOST))),
            "Squares along u and along v, each of two triangles; default [20, 20]",
        ),
        key("shape", Form::Equations(3, &NAMES), "x, y and z in its frame over u, v, time and signals [m]")
            .required("such as shape = [\"u\", \"v\", \"0.1*sin(10*u - 2*t)\"]"),
        equation("value", "Number that gives the colour, over u, v, time and signals"),
        key(
            "range",
            Form::Vector(2, measure(Dimension::ONE, Range::Any)),
            "Numbers at both ends of the colours; default [0, 1]",
        ),
        word("coloured", &COLOURED, "What has a colour of its own").or_word("vertex"),
        vector("colour", Dimension::ONE, "Red, green and blue of one without `value`, from 0 to 1; default grey"),
        any("opacity", Range::Fraction, "1 hides what is behind it, 0 nothing").or(1.0),
    ]],
    check: |check| {
        for key in ["range", "coloured"] {
            if check.has(key) && !check.has("value") {
                check.error(key, format!(" has `{key}` but no `value`"), "value = \"u\" colours it along u");
            }
        }
        check.not_both("colour", "value");
        for key in ["u", "v", "range"] {
            if let [low, high] = check.part.numbers(key)
                && low >= high
            {
                check.error(key, format!(" has {key} from {low} to {high}"), "the smaller number first");
            }
        }
        if let Some(colour) = check.part.vector("colour")
            && !(colour.min_element() >= 0.0 && colour.max_element() <= 1.0)
        {
            check.error("colour", " has a colour with a part outside 0 to 1", "such as colour = [0.2, 0.5, 1]");
        }
    },
    example: "on = \"world\"\nshape = [\"u\", \"v\", \"0\"]",
    ..Spec::NONE
};
