/** Draws a specification of Vega-Lite, without a display. */

import { createRequire } from 'node:module'
// This is @napi-rs/canvas, under the name that Vega imports (see package.json).
import { GlobalFonts } from 'canvas'
import { parse, View } from 'vega'
import { compile } from 'vega-lite'
import { CONFIG, FONT, withDarkScheme } from './style.js'

const FONT_FILE = 'roboto-fontface/fonts/roboto/Roboto-Regular.woff2'
/** Pixels of the PNG for each pixel of the SVG. */
const SCALE = 2

/**
 * @param {object} spec of Vega-Lite
 * @returns {Promise<{ svg: string, png: Buffer }>}
 */
export async function draw(spec) {
  registerFont()
  const compiled = compile(/** @type {any} */ ({ ...spec, config: CONFIG }))
  const view = new View(parse(compiled.spec), { renderer: 'none' })
  const svg = await view.toSVG()
  const canvas = /** @type {any} */ (await view.toCanvas(SCALE))
  view.finalize()
  return { svg: withDarkScheme(svg), png: canvas.toBuffer('image/png') }
}

/** A font of this package, so that machines without fonts draw the same picture. */
function registerFont() {
  if (GlobalFonts.has(FONT)) return
  GlobalFonts.registerFromPath(createRequire(import.meta.url).resolve(FONT_FILE), FONT)
}
