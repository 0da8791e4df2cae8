// How many cells of a terminal a text takes.

/** East Asian wide characters and most emoji take two cells. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const COMBINING = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u

export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += cellsOf(character)
  return width
}

/** The text, cut off to so many cells. */
export function cut(text: string, max: number): string {
  if (widthOf(text) <= max) return text
  let kept = ''
  let width = 1
  for (const character of text) {
    width += cellsOf(character)
    if (width > max) break
    kept += character
  }
  return max < 1 ? '' : `${kept}…`
}

function cellsOf(character: string): number {
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
