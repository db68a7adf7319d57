//! Charts of results: a bar per workload and engine for each configuration, and latencies over time. Predecessor: the
//! JSON lines that [`crate::report`] writes. Each chart is drawn as SVG and as PNG.

mod bars;
mod medians;
mod timeline;

use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::report::{Report, configurations};
use crate::{Failure, Result};

pub use medians::{Median, medians};

const SIZE_PIXELS: (u32, u32) = (1400, 700);
const FONT: &str = "sans-serif";

/// Draws the results in `file` and returns the files of the charts, which are next to it.
///
/// # Errors
///
/// If there are no results, or a file cannot be read or written.
pub fn draw(file: &Path) -> Result<Vec<PathBuf>> {
    let reports = Report::read_all(file)?;
    if reports.is_empty() {
        return Err(format!("{} holds no results", file.display()).into());
    }
    register_font()?;
    let stem = |addition: &str| {
        let mut name = file.file_stem().unwrap_or_default().to_owned();
        name.push(addition);
        file.with_file_name(name)
    };
    let configurations = configurations(&reports);
    let mut drawn = Vec::new();
    for (configuration, reports) in &configurations {
        let name = if configurations.len() > 1 { format!("-{configuration}") } else { String::new() };
        drawn.extend(draw_both(&stem(&name), &Bars(&medians(reports)))?);
    }
    if let Some(line) = timeline::Timeline::of(&reports) {
        drawn.extend(draw_both(&stem("-latency"), &line)?);
    }
    Ok(drawn)
}

/// Registers a font of our own, under the name that every chart uses, so that the machine needs none.
fn register_font() -> Result<()> {
    plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the built-in font cannot be read".into())
}

/// Something that can be drawn on any surface.
trait Picture {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static;
}

struct Bars<'a>(&'a [Median]);

impl Picture for Bars<'_> {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        bars::draw(self.0, area)
    }
}

fn draw_both(stem: &Path, picture: &impl Picture) -> Result<Vec<PathBuf>> {
    let with = |extension: &str| {
        let mut name = stem.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    let (svg, png) = (with(".svg"), with(".png"));
    draw_on(&SVGBackend::new(&svg, SIZE_PIXELS).into_drawing_area(), picture)?;
    draw_on(&BitMapBackend::new(&png, SIZE_PIXELS).into_drawing_area(), picture)?;
    Ok(vec![svg, png])
}

fn draw_on<B: DrawingBackend>(area: &DrawingArea<B, Shift>, picture: &impl Picture) -> Result<()>
where
    B::ErrorType: 'static,
{
    area.fill(&WHITE).map_err(failure)?;
    picture.draw(area)?;
    area.present().map_err(failure)
}

fn failure<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> Failure {
    error.to_string().into()
}

type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;

/// A chart from 0 to `end` and, on a logarithmic scale, over `micros`.
fn chart<'a, B: DrawingBackend>(
    area: &'a DrawingArea<B, Shift>,
    caption: &str,
    end: f64,
    micros: std::ops::Range<f64>,
) -> Result<Chart<'a, B>>
where
    B::ErrorType: 'static,
{
    ChartBuilder::on(area)
        .caption(caption, (FONT, 24))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..end, micros.log_scale())
        .map_err(failure)
}

/// Names the drawn series, in a place where little else is.
fn draw_legend<'a, B: DrawingBackend + 'a>(
    chart: &mut Chart<'a, B>,
    position: SeriesLabelPosition,
) -> Result<()>
where
    B::ErrorType: 'static,
{
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .label_font((FONT, 16))
        .draw()
        .map_err(failure)
}

/// The colour of the series with that index.
fn colour(index: usize) -> RGBColor {
    const COLOURS: [(u8, u8, u8); 8] = [
        (31, 119, 180),
        (255, 127, 14),
        (44, 160, 44),
        (214, 39, 40),
        (148, 103, 189),
        (140, 86, 75),
        (227, 119, 194),
        (127, 127, 127),
    ];
    let (red, green, blue) = COLOURS[index % COLOURS.len()];
    RGBColor(red, green, blue)
}
