//! Location of a sign change.

/// Finds where `f` changes sign between `a` and `b`, given `fa = f(a)` and `fb = f(b)` of opposite sign (or zero).
///
/// Illinois variant of the secant method: bracketing, superlinear, no derivative (Dahlquist and Bjorck 1974, section
/// 6.2.2). Returns the end of the last bracket on the side of `b`, so that the sign at the returned point is that of `fb`
/// (or zero): a contact set rebuilt there sees the change.
pub fn locate(a: f64, fa: f64, b: f64, fb: f64, tolerance: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut fa, mut b, mut fb) = (a, fa, b, fb);
    if fa == 0.0 {
        return a;
    }
    let mut side = 0;
    for _ in 0..100 {
        if (b - a).abs() <= tolerance || fb == 0.0 {
            break;
        }
        let mut c = b - fb * (b - a) / (fb - fa);
        // keep off the ends, or rounding may never let the bracket shrink
        let inset = 0.25 * tolerance.min((b - a).abs());
        let (low, high) = if a < b { (a + inset, b - inset) } else { (b + inset, a - inset) };
        if !(low..=high).contains(&c) {
            c = 0.5 * (a + b);
        }
        let fc = f(c);
        if fc * fb > 0.0 || fc == 0.0 {
            b = c;
            fb = fc;
            if side == 1 {
                fa *= 0.5;
            }
            side = 1;
        } else {
            a = c;
            fa = fc;
            if side == -1 {
                fb *= 0.5;
            }
            side = -1;
        }
    }
    b
}

/// Solves `f(x) = 0` for an increasing `f` bracketed by `a < b`, to machine precision, by bisection and secant in turn.
pub fn solve_increasing(a: f64, b: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut b) = (a, b);
    let (mut fa, mut fb) = (f(a), f(b));
    for i in 0..200 {
        let width = b - a;
        if width <= 4.0 * f64::EPSILON * a.abs().max(b.abs()) {
            break;
        }
        let mut c = if i % 3 == 2 { 0.5 * (a + b) } else { a - fa * width / (fb - fa) };
        if !(c > a && c < b) {
            c = 0.5 * (a + b);
        }
        let fc = f(c);
        if fc >= 0.0 {
            b = c;
            fb = fc;
        }
        if fc <= 0.0 {
            a = c;
            fa = fc;
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locates_on_the_right_side() {
        let f = |x: f64| x * x - 2.0;
        let x = locate(0.0, f(0.0), 2.0, f(2.0), 1e-14, f);
        assert!((x - std::f64::consts::SQRT_2).abs() < 1e-13);
        assert!(f(x) >= 0.0);
    }

    #[test]
    fn locates_a_falling_crossing() {
        let f = |x: f64| 1.0 - x;
        let x = locate(0.0, f(0.0), 3.0, f(3.0), 1e-15, f);
        assert!((x - 1.0).abs() < 1e-14 && f(x) <= 0.0);
    }

    #[test]
    fn solves_to_machine_precision() {
        let x = solve_increasing(0.0, 2.0, |x| x * x * x - 2.0);
        assert!((x * x * x - 2.0).abs() < 1e-14);
    }
}
