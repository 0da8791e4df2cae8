// The colours that the reader chose last, on this device. Where nothing may be stored, the choice is for this page.
export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'durably-dashboard-theme'

const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY)
    return THEMES.find((theme) => theme === stored) ?? 'auto'
  } catch {
    return 'auto'
  }
}

export function storeTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // The page may not store anything; the choice holds until it is closed.
  }
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto'
}
