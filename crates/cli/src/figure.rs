//! Figures: panels of curves over one time axis, as PNG or SVG, with a font of their own so that they look the same on a
//! machine without any.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::ops::Range;
use std::path::Path;

/// A whole figure.
pub struct Figure {
    /// Above all panels.
    pub title: String,
    /// Under the title, small.
    pub subtitle: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Marked by thin vertical lines in all panels [s].
    pub marks: Vec<f64>,
    /// What the marks are, for the legend.
    pub mark_label: String,
    /// Width and height [pixels].
    pub size: (u32, u32),
}

/// Curves with one unit.
pub struct Panel {
    /// Beside the axis.
    pub label: String,
    /// From back to front.
    pub curves: Vec<Curve>,
}

/// One signal.
pub struct Curve {
    /// Name for the legend.
    pub name: String,
    /// Time [s] and value.
    pub points: Vec<(f64, f64)>,
}

/// Colours that can be told apart with any eyes (Okabe and Ito 2008), without yellow.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(80, 80, 80),
];
const INK: RGBColor = RGBColor(40, 40, 40);
const FAINT: RGBColor = RGBColor(110, 110, 110);
const GRID: RGBColor = RGBColor(228, 228, 228);
const MARK: RGBColor = RGBColor(200, 178, 220);
/// More marks than this blacken the panels and are left out.
const MAX_MARKS: usize = 400;
/// PNG is drawn this many times larger and averaged: smooth lines.
const OVERSAMPLING: u32 = 3;

impl Figure {
    /// Writes the figure; the extension, `.png` or `.svg`, says how.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        // Registering the same font again is harmless; it fails only for bytes that are no font.
        for (style, bytes) in [(FontStyle::Normal, dejavu::sans::regular()), (FontStyle::Bold, dejavu::sans::bold())] {
            register_font("sans-serif", style, bytes).map_err(|_| "the built-in font cannot be read".to_owned())?;
        }
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => {
                let mut text = String::new();
                {
                    let area = SVGBackend::with_string(&mut text, self.size).into_drawing_area();
                    self.draw(&area, 1)?;
                    area.present().map_err(|error| error.to_string())?;
                }
                std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
            }
            Some("png") => self.save_png(path),
            _ => Err(format!("{}: a plot is a .png or an .svg", path.display())),
        }
    }

    fn save_png(&self, path: &Path) -> Result<(), String> {
        let (width, height) = self.size;
        let (w, h) = (width * OVERSAMPLING, height * OVERSAMPLING);
        let mut large = vec![0_u8; w as usize * h as usize * 3];
        {
            let area = BitMapBackend::with_buffer(&mut large, (w, h)).into_drawing_area();
            self.draw(&area, OVERSAMPLING)?;
            area.present().map_err(|error| error.to_string())?;
        }
        let small = average(&large, width as usize, height as usize, OVERSAMPLING as usize);
        let save = || -> Result<(), Box<dyn std::error::Error>> {
            let file = std::io::BufWriter::new(std::fs::File::create(path)?);
            let mut encoder = png::Encoder::new(file, width, height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&small)?;
            Ok(writer.finish()?)
        };
        save().map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Draws everything `scale` times larger than a screen pixel.
    fn draw<D: DrawingBackend>(&self, area: &DrawingArea<D, Shift>, scale: u32) -> Result<(), String> {
        let fail = |error: DrawingAreaErrorKind<D::ErrorType>| error.to_string();
        let px = |size: u32| size * scale;
        area.fill(&WHITE).map_err(fail)?;
        let (head, body) = area.split_vertically(px(58));
        let title = ("sans-serif", px(20), FontStyle::Bold, &INK).into_text_style(&head);
        head.draw(&Text::new(self.title.as_str(), (px(24) as i32, px(14) as i32), title)).map_err(fail)?;
        let subtitle = ("sans-serif", px(12), &FAINT).into_text_style(&head);
        head.draw(&Text::new(self.subtitle.as_str(), (px(24) as i32, px(39) as i32), subtitle)).map_err(fail)?;

        let points = || self.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
        let times = padded(points().map(|point| point.0), 0.0);
        let areas = body.split_evenly((self.panels.len().max(1), 1));
        for (k, (panel, area)) in self.panels.iter().zip(&areas).enumerate() {
            let last = k + 1 == self.panels.len();
            self.draw_panel(panel, area, times.clone(), last, scale)?;
        }
        Ok(())
    }

    fn draw_panel<D: DrawingBackend>(
        &self,
        panel: &Panel,
        area: &DrawingArea<D, Shift>,
        times: Range<f64>,
        last: bool,
        scale: u32,
    ) -> Result<(), String> {
        let fail = |error: DrawingAreaErrorKind<D::ErrorType>| error.to_string();
        let px = |size: u32| size * scale;
        let values = padded(panel.curves.iter().flat_map(|curve| &curve.points).map(|point| point.1), 0.06);
        let marks: Vec<f64> = self.marks.iter().copied().filter(|t| times.contains(t)).collect();
        let marked = !marks.is_empty() && marks.len() <= MAX_MARKS;
        let legend = self.draw_legend(panel, area, marked && last, scale)?;
        let mut chart = ChartBuilder::on(area)
            .margin_left(px(14))
            .margin_right(px(26))
            .margin_top(legend + px(4))
            .margin_bottom(px(if last { 10 } else { 4 }))
            .set_label_area_size(LabelAreaPosition::Left, px(76))
            .set_label_area_size(LabelAreaPosition::Bottom, px(if last { 44 } else { 24 }))
            .build_cartesian_2d(Scale(times.clone()), Scale(values.clone()))
            .map_err(fail)?;
        let text = ("sans-serif", px(12), &INK);
        chart
            .configure_mesh()
            .x_labels(10)
            .y_labels((area.dim_in_pixel().1 / px(48)).clamp(3, 9) as usize)
            .max_light_lines(0)
            .bold_line_style(GRID.stroke_width(scale))
            .axis_style(FAINT.stroke_width(scale))
            .label_style(text)
            .set_all_tick_mark_size(px(4))
            .axis_desc_style(("sans-serif", px(13), &INK))
            .x_desc(if last { "time [s]" } else { "" })
            .y_desc(panel.label.as_str())
            .draw()
            .map_err(fail)?;

        if marked {
            let style = MARK.stroke_width(scale);
            let line = |t| PathElement::new(vec![(t, values.start), (t, values.end)], style);
            chart.draw_series(marks.into_iter().map(line)).map_err(fail)?;
        }
        for (curve, colour) in panel.curves.iter().zip(COLOURS.iter().cycle()) {
            let series = LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2 * scale));
            chart.draw_series(series).map_err(fail)?;
        }
        Ok(())
    }

    /// Draws the names of the curves above the panel, in as many lines as they need, and returns their height [pixels].
    fn draw_legend<D: DrawingBackend>(
        &self,
        panel: &Panel,
        area: &DrawingArea<D, Shift>,
        marked: bool,
        scale: u32,
    ) -> Result<u32, String> {
        let fail = |error: DrawingAreaErrorKind<D::ErrorType>| error.to_string();
        let px = |size: i32| size * scale as i32;
        let style = ("sans-serif", px(12), &INK).into_text_style(area);
        let (left, right) = (px(92), area.dim_in_pixel().0 as i32 - px(26));
        let (mut x, mut y) = (left, px(10));
        let curves = panel.curves.iter().map(|curve| curve.name.as_str()).zip(COLOURS.into_iter().cycle());
        let marks = marked.then_some((self.mark_label.as_str(), MARK));
        for (name, colour) in curves.chain(marks) {
            let width = area.estimate_text_size(name, &style).map_err(fail)?.0 as i32 + px(50);
            if x > left && x + width > right {
                (x, y) = (left, y + px(18));
            }
            let line = vec![(x, y), (x + px(22), y)];
            area.draw(&PathElement::new(line, colour.stroke_width(2 * scale))).map_err(fail)?;
            let middle = style.pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(name, (x + px(28), y), middle)).map_err(fail)?;
            x += width;
        }
        Ok((y + px(10)) as u32)
    }
}

/// Range of the finite numbers, widened by a share of itself; never empty.
fn padded(numbers: impl Iterator<Item = f64>, share: f64) -> Range<f64> {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = numbers.filter(|x| x.is_finite()).fold(start, |(low, high), x| (low.min(x), high.max(x)));
    if low > high {
        return 0.0..1.0;
    }
    let width = high - low;
    if width <= 1e-12 * low.abs().max(high.abs()) {
        let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        return low - half..high + half;
    }
    low - share * width..high + share * width
}

/// Mean of `factor` by `factor` pixels of three bytes.
fn average(large: &[u8], width: usize, height: usize, factor: usize) -> Vec<u8> {
    let mut small = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            for c in 0..3 {
                let row = |dy: usize| ((y * factor + dy) * width * factor + x * factor) * 3 + c;
                let sum: u32 = (0..factor)
                    .flat_map(|dy| (0..factor).map(move |dx| (dy, dx)))
                    .map(|(dy, dx)| u32::from(large[row(dy) + 3 * dx]))
                    .sum();
                small.push((sum / (factor * factor) as u32) as u8);
            }
        }
    }
    small
}

/// A linear axis with ticks at 1, 2 or 5 times a power of ten, written with as many digits as the step needs.
struct Scale(Range<f64>);

impl Scale {
    /// Largest handsome step that gives at least about `count` ticks.
    fn tick_step(&self, count: usize) -> f64 {
        let raw = (self.0.end - self.0.start) / count.max(1) as f64;
        let mut power = 1.0;
        while power * 10.0 <= raw {
            power *= 10.0;
        }
        while power > raw {
            power /= 10.0;
        }
        let ratio = raw / power;
        power
            * if ratio < 1.5 {
                1.0
            } else if ratio < 3.5 {
                2.0
            } else if ratio < 7.5 {
                5.0
            } else {
                10.0
            }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.0.start) / (self.0.end - self.0.start);
        // Far outside is far enough: the backend clips, and the cast must not wrap.
        limit.0 + (f64::from(limit.1 - limit.0) * share.clamp(-10.0, 11.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let step = self.tick_step(hint.max_num_points());
        let first = (self.0.start / step).ceil();
        let count = ((self.0.end / step).floor() - first).clamp(-1.0, 1000.0) + 1.0;
        (0..count as usize).map(|k| (first + k as f64) * step).collect()
    }

    fn range(&self) -> Range<f64> {
        self.0.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        tick(*value, self.0.end - self.0.start)
    }
}

/// A tick on an axis of this width, short and unmistakable.
fn tick(value: f64, width: f64) -> String {
    let size = value.abs();
    if size < 1e-9 * width {
        return "0".to_owned();
    }
    let largest = size.max(width);
    if !(1e-3..1e5).contains(&largest) {
        let text = format!("{value:.2e}");
        return match text.split_once('e') {
            Some((digits, exponent)) => format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.')),
            None => text,
        };
    }
    let mut digits = 0;
    let mut resolution = width / 40.0;
    while resolution < 1.0 && digits < 12 {
        resolution *= 10.0;
        digits += 1;
    }
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_handsome() {
        let axis = Scale(-0.03..1.06);
        assert!((axis.tick_step(8) - 0.1).abs() < 1e-15);
        assert_eq!(tick(0.30000000000000004, 1.0), "0.3");
        assert_eq!(tick(-2.5, 10.0), "-2.5");
        assert_eq!(tick(2e-6, 1e-5), "2e-6");
        assert_eq!(tick(120_000.0, 5e5), "1.2e5");
        assert_eq!(tick(1e-17, 1.0), "0");
        assert_eq!(padded([f64::NAN, 3.0, 3.0].into_iter(), 0.1), 2.7..3.3);
        assert_eq!(padded(std::iter::empty(), 0.1), 0.0..1.0);
    }

    /// Both formats come out whole, also for constant, empty and huge curves.
    #[test]
    fn figures_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let wave = |a: f64| (0..400).map(|k| (k as f64 * 0.01, a * (k as f64 * 0.05 - 1.0).abs())).collect();
        let curve = |name: &str, points| Curve { name: name.to_owned(), points };
        let panels = vec![
            Panel {
                label: "position [m]".to_owned(),
                curves: vec![curve("ball.position.z", wave(1.0)), curve("b", wave(0.5))],
            },
            Panel {
                label: "[J]".to_owned(),
                curves: vec![curve("zero", vec![(0.0, 0.0), (4.0, 0.0)]), curve("none", vec![])],
            },
            Panel { label: "[Pa]".to_owned(), curves: vec![curve("huge", wave(1e300))] },
        ];
        let figure = Figure {
            title: "Bouncing".to_owned(),
            subtitle: "runs/bouncing".to_owned(),
            panels,
            marks: vec![1.0, 2.0],
            mark_label: "contact".to_owned(),
            size: (900, 700),
        };
        figure.save(&dir.path().join("f.svg")).unwrap();
        figure.save(&dir.path().join("f.png")).unwrap();
        assert!(figure.save(&dir.path().join("f.bmp")).is_err());
        assert!(figure.save(&dir.path().join("no/f.png")).is_err());
        let svg = std::fs::read_to_string(dir.path().join("f.svg")).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("ball.position.z") && svg.contains("time [s]"));
        let png = std::fs::read(dir.path().join("f.png")).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        assert!(png.len() > 10_000);
        if let Some(folder) = std::env::var_os("TIPPE_KEEP_FIGURES") {
            std::fs::copy(dir.path().join("f.png"), Path::new(&folder).join("f.png")).unwrap();
            std::fs::copy(dir.path().join("f.svg"), Path::new(&folder).join("f.svg")).unwrap();
        }
    }
}
