/**
 * The anchor of a heading as GitHub makes it, so that a link with an anchor works there and on the site.
 *
 * @param {string} heading - The text of the heading, without marks of Markdown.
 */
export function slugOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
