/** Render cents as the visitor's browser writes money. */
export function formatMoney(cents, currency = "EUR", locale = undefined) {
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(cents / 100);
}

/** Keep markup in article names from becoming markup of the page. */
export function escapeHtml(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (char) => names[char]);
}

/** Call at most once in a while, with the last arguments: for search while typing. */
export function debounce(call, wait = 200) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), wait);
  };
}
