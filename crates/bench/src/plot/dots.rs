//! A row per workload and a dot per engine: how many times as fast as the reference it is, with a line from the slowest
//! round to the fastest. If the reference did not run, the time per operation.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{FONT, GRID, Picture, colour, failure};
use crate::Result;
use crate::medians::{Median, REFERENCE};

const WIDTH_PIXELS: i32 = 840;
const ROW_PIXELS: i32 = 22;
/// What is above the first row: the caption and the legend.
const HEAD_PIXELS: i32 = 78;
/// What is below the last row: the ticks and what they mean.
const FOOT_PIXELS: i32 = 52;
/// Where the rows begin, after their names, and where they end.
const LEFT_PIXELS: i32 = 170;
const RIGHT_PIXELS: i32 = WIDTH_PIXELS - 44;
const RADIUS_PIXELS: i32 = 4;
/// The radius of the first engine's dots, which the picture is about.
const FIRST_RADIUS_PIXELS: i32 = 6;
/// Ratios beyond 32 and 1/32 are drawn at the edge with their number, so that one of them does not crowd all others.
const MOST_DOUBLINGS: f64 = 5.0;

/// A value of an engine, as far as the scale is concerned: a power of its base.
struct Dot<'a> {
    series: &'a str,
    row: i32,
    power: f64,
    /// The powers of the slowest and of the fastest round.
    spread: (f64, f64),
}

/// The medians of one configuration, ready to draw.
pub(super) struct Dots<'a> {
    caption: String,
    scale: Scale,
    rows: Vec<&'a str>,
    series: Vec<&'a str>,
    dots: Vec<Dot<'a>>,
    /// The powers at the left and at the right edge.
    ends: (f64, f64),
}

#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// Doublings of the reference's speed.
    Ratio,
    /// Powers of ten of microseconds.
    Micros,
}

impl Scale {
    /// Where a median and its rounds are on the scale, if they have a place there.
    fn powers(self, median: &Median) -> Option<(f64, (f64, f64))> {
        match self {
            Self::Ratio => median
                .times_as_fast
                .map(|ratio| (ratio.median.log2(), (ratio.least.log2(), ratio.most.log2()))),
            Self::Micros => {
                let power = median.micros_per_op.max(f64::MIN_POSITIVE).log10();
                Some((power, (power, power)))
            }
        }
    }

    fn tick(self, power: f64) -> String {
        match self {
            Self::Ratio if power < 0.0 => format!("1/{}", (-power).exp2()),
            Self::Ratio => format!("{}×", power.exp2()),
            Self::Micros => format!("{}", 10f64.powf(power)),
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Ratio => "logarithmic: further right is faster",
            Self::Micros => "µs, logarithmic: further left is faster",
        }
    }
}

impl<'a> Dots<'a> {
    /// What `medians`, all of one configuration, have to show.
    pub(super) fn of(configuration: &str, medians: &'a [Median]) -> Self {
        let is_compared = medians.iter().any(|median| median.times_as_fast.is_some());
        let scale = if is_compared { Scale::Ratio } else { Scale::Micros };
        let (mut rows, mut series, mut dots) = (Vec::new(), Vec::new(), Vec::new());
        for median in medians {
            let row = index_of(&mut rows, &median.label);
            if let Some((power, spread)) = scale.powers(median) {
                index_of(&mut series, &median.series);
                dots.push(Dot { series: &median.series, row, power, spread });
            }
        }
        let most = if is_compared { MOST_DOUBLINGS } else { f64::INFINITY };
        let powers = || dots.iter().map(|dot| dot.power.clamp(-most, most));
        let ends = (powers().fold(0.0, f64::min).floor(), powers().fold(1.0, f64::max).ceil());
        let what = match scale {
            Scale::Ratio => format!("Times as fast as {REFERENCE}"),
            Scale::Micros => "Time per operation".to_owned(),
        };
        Self { caption: format!("{what}, settings {configuration}"), scale, rows, series, dots, ends }
    }

    fn height(&self) -> i32 {
        HEAD_PIXELS + FOOT_PIXELS + ROW_PIXELS * count(&self.rows)
    }

    fn x(&self, power: f64) -> i32 {
        let (first, last) = self.ends;
        let share = (power - first) / (last - first);
        LEFT_PIXELS + (share * f64::from(RIGHT_PIXELS - LEFT_PIXELS)).round() as i32
    }

    fn y(row: i32) -> i32 {
        HEAD_PIXELS + ROW_PIXELS * row + ROW_PIXELS / 2
    }

    /// The caption, and below it the name of each engine beside a dot of its colour.
    fn draw_head<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        area.draw_text(&self.caption, &text(23, HPos::Left), (16, 24)).map_err(failure)?;
        let mut x = 22;
        for (index, name) in self.series.iter().enumerate() {
            draw_dot(area, (x, 54), name, index)?;
            area.draw_text(name, &text(18, HPos::Left), (x + 11, 54)).map_err(failure)?;
            let (width, _) = (FONT, 18).into_font().box_size(name).map_err(|error| error.to_string())?;
            x += 11 + width as i32 + 26;
        }
        if self.scale == Scale::Ratio {
            let line = PathElement::new([(x, 46), (x, 62)], BLACK.stroke_width(2));
            area.draw(&line).map_err(failure)?;
            area.draw_text(REFERENCE, &text(18, HPos::Left), (x + 9, 54)).map_err(failure)?;
        }
        Ok(())
    }

    /// A line for each row and each tick, with their names.
    fn draw_grid<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let bottom = self.height() - FOOT_PIXELS;
        let (first, last) = self.ends;
        for row in 0..count(&self.rows) {
            let y = Self::y(row);
            let line = PathElement::new([(LEFT_PIXELS, y), (RIGHT_PIXELS, y)], GRID);
            area.draw(&line).map_err(failure)?;
            let name = self.rows[row as usize];
            area.draw_text(name, &text(17, HPos::Right), (LEFT_PIXELS - 12, y)).map_err(failure)?;
        }
        for step in 0..=(last - first) as i32 {
            let power = first + f64::from(step);
            let x = self.x(power);
            let is_reference = self.scale == Scale::Ratio && power == 0.0;
            let style = if is_reference { BLACK.stroke_width(2) } else { GRID.into() };
            let line = PathElement::new([(x, HEAD_PIXELS), (x, bottom)], style);
            area.draw(&line).map_err(failure)?;
            area.draw_text(&self.scale.tick(power), &text(16, HPos::Center), (x, bottom + 13))
                .map_err(failure)?;
        }
        let middle = i32::midpoint(LEFT_PIXELS, RIGHT_PIXELS);
        area.draw_text(self.scale.meaning(), &text(16, HPos::Center), (middle, bottom + 35)).map_err(failure)
    }

    /// The dots of the engine with that index.
    fn draw_series<B: DrawingBackend>(&self, index: usize, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        let (first, last) = self.ends;
        for dot in self.dots.iter().filter(|dot| dot.series == self.series[index]) {
            let power = dot.power.clamp(first, last);
            let (slowest, fastest) = (dot.spread.0.clamp(first, last), dot.spread.1.clamp(first, last));
            if self.x(slowest) < self.x(fastest) {
                let y = Self::y(dot.row);
                let ends = [(self.x(slowest), y), (self.x(fastest), y)];
                area.draw(&PathElement::new(ends, colour(dot.series, index).stroke_width(2)))
                    .map_err(failure)?;
            }
            draw_dot(area, (self.x(power), Self::y(dot.row)), dot.series, index)?;
            if power != dot.power {
                let ratio = dot.power.exp2();
                let number = if ratio < 10.0 { format!("{ratio:.2}×") } else { format!("{ratio:.0}×") };
                let place = (self.x(power) + 9, Self::y(dot.row));
                area.draw_text(&number, &text(14, HPos::Left), place).map_err(failure)?;
            }
        }
        Ok(())
    }
}

impl Picture for Dots<'_> {
    fn size_pixels(&self) -> (u32, u32) {
        (WIDTH_PIXELS as u32, self.height() as u32)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        self.draw_grid(area)?;
        self.draw_head(area)?;
        // The first engine's larger dots come first, so that they cover no other.
        (0..self.series.len()).try_for_each(|index| self.draw_series(index, area))
    }
}

/// The place of `name` among `names`, to which it is added if it is new.
fn index_of<'a>(names: &mut Vec<&'a str>, name: &'a str) -> i32 {
    let index = names.iter().position(|known| *known == name).unwrap_or(names.len());
    if index == names.len() {
        names.push(name);
    }
    index as i32
}

fn count(rows: &[&str]) -> i32 {
    rows.len() as i32
}

fn text(pixels: i32, horizontal: HPos) -> TextStyle<'static> {
    TextStyle::from((FONT, pixels).into_font()).pos(Pos::new(horizontal, VPos::Center))
}

/// A dot of the engine with that name and index, with an edge in the colour of the ground that tells it from dots below it.
fn draw_dot<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    centre: (i32, i32),
    name: &str,
    index: usize,
) -> Result<()>
where
    B::ErrorType: 'static,
{
    let radius = if index == 0 { FIRST_RADIUS_PIXELS } else { RADIUS_PIXELS };
    area.draw(&Circle::new(centre, radius + 1, WHITE.filled())).map_err(failure)?;
    area.draw(&Circle::new(centre, radius, colour(name, index).filled())).map_err(failure)
}
