//! Charts of results: a dot per workload and engine for each configuration, and latencies over time. The input is the
//! JSON lines that [`crate::report`] writes. Each chart is drawn as SVG, which follows the reader's choice of light or
//! dark, and as PNG.

mod dots;
mod timeline;

use std::fs;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::medians::medians;
use crate::report::{Report, configurations};
use crate::{Failure, Result};

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
        let medians = medians(reports);
        // One number needs no picture.
        if medians.len() > 1 {
            drawn.extend(draw_both(&stem(&name), &dots::Dots::of(configuration, &medians))?);
        }
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
    fn size_pixels(&self) -> (u32, u32);

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static;
}

fn draw_both(stem: &Path, picture: &impl Picture) -> Result<Vec<PathBuf>> {
    let with = |extension: &str| {
        let mut name = stem.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    let (svg, png) = (with(".svg"), with(".png"));
    let size = picture.size_pixels();
    let mut text = String::new();
    draw_on(&SVGBackend::with_string(&mut text, size).into_drawing_area(), picture)?;
    fs::write(&svg, with_dark_scheme(&text))?;
    let (width, height) = size;
    let mut pixels = vec![0; (width * height * BYTES_PER_PIXEL) as usize];
    draw_on(&BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area(), picture)?;
    fs::write(&png, encode_png(&pixels, size)?)?;
    Ok(vec![svg, png])
}

/// Red, green, blue.
const BYTES_PER_PIXEL: u32 = 3;

/// The file that holds `pixels`, row by row.
fn encode_png(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(file)
}

/// `svg` with a style that replaces its colours for readers who prefer a dark scheme.
fn with_dark_scheme(svg: &str) -> String {
    let rule = |(light, dark): (RGBColor, &str)| {
        let RGBColor(red, green, blue) = light;
        let light = format!("#{red:02X}{green:02X}{blue:02X}");
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
    };
    let rules: String = [(WHITE, "#0d1117"), (BLACK, "#e6edf3"), (GRID, "#30363d")]
        .into_iter()
        .chain(COLOURS)
        .map(rule)
        .collect();
    let style = format!("\n<style>@media (prefers-color-scheme:dark){{{rules}}}</style>");
    match svg.find("<svg").and_then(|start| Some(start + svg[start..].find('>')? + 1)) {
        Some(end) => format!("{}{style}{}", &svg[..end], &svg[end..]),
        None => svg.to_owned(),
    }
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

/// Lines that only guide the eye.
const GRID: RGBColor = RGBColor(0xd8, 0xde, 0xe4);

/// The colours of series in a light scheme, each with that of a dark one. Most people who see colours differently can tell
/// them apart (Okabe and Ito).
const COLOURS: [(RGBColor, &str); 8] = [
    (RGBColor(0x00, 0x72, 0xb2), "#4aa8ff"),
    (RGBColor(0x56, 0xb4, 0xe9), "#9fdcff"),
    (RGBColor(0xe6, 0x9f, 0x00), "#ffc233"),
    (RGBColor(0x00, 0x9e, 0x73), "#2fcf9f"),
    (RGBColor(0xcc, 0x79, 0xa7), "#e79bc6"),
    (RGBColor(0xd5, 0x5e, 0x00), "#ff8c42"),
    (RGBColor(0x44, 0x44, 0x44), "#b1bac4"),
    (RGBColor(0xb8, 0xa8, 0x00), "#dccb2a"),
];

/// Engines that have the same colour in every chart. Those that also appear in Node's charts have their colour there.
const ENGINES: [(&str, usize); 7] = [
    ("terrace", 0),
    ("leveldb", 3),
    ("leveldb-head", 4),
    ("rocksdb", 7),
    ("lmdb", 5),
    ("fjall", 1),
    ("redb", 2),
];

/// The colour of the series with that name, or else with that index.
fn colour(name: &str, index: usize) -> RGBColor {
    let known = ENGINES.iter().find(|(engine, _)| *engine == name);
    COLOURS[known.map_or(index, |(_, colour)| *colour) % COLOURS.len()].0
}
