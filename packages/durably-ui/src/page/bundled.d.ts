// Written by scripts/bundle.mjs: the script of the page, with everything that it imports.
export const script: string
