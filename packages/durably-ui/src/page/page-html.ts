// The page around the dashboard.

export const STYLE = `html, body { margin: 0; height: 100%; color-scheme: light dark; background: light-dark(#fbfbfa, #111113); }
durably-dashboard { display: block; height: 100%; }
`

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#5b5bd6"/><path d="M4.5 5h5M4.5 8h7M4.5 11h3" stroke="#fff" stroke-width="1.6" stroke-linecap="round"/></svg>\n'

export function pageHtml(api: string, base: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${escaped(policy(api))}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="referrer" content="no-referrer" />
    <meta name="durably-api" content="${escaped(api)}" />
    <title>Durably</title>
    <link rel="icon" href="${escaped(base)}icon.svg" />
    <link rel="stylesheet" href="${escaped(base)}dashboard.css" />
    <script type="module" src="${escaped(base)}dashboard.js"></script>
  </head>
  <body></body>
</html>
`
}

/** Nothing but the files of the page itself, and requests to the server of the runs. */
function policy(api: string): string {
  const other = URL.canParse(api) ? ` ${new URL(api).origin}` : ''
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'${other}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types lit-html`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
