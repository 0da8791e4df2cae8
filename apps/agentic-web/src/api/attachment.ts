/** Never shown as a page of this origin: a tool may have written anything. */
export function attachment(content: Uint8Array, fileName: string): Response {
  return new Response(new Uint8Array(content), {
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    },
  })
}
