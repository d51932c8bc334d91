import { debounce, escapeHtml } from "./format.js";

/** Ask the server for articles and show them below the box. */
export async function showResults(box, list, fetcher = fetch) {
  const words = box.value.trim();
  if (!words) {
    list.innerHTML = "";
    return;
  }
  const response = await fetcher(`/search?q=${encodeURIComponent(words)}`);
  const articles = await response.json();
  list.innerHTML = articles.map(renderArticle).join("");
}

function renderArticle(article) {
  return `<li data-id="${escapeHtml(article.id)}">${escapeHtml(article.name)}</li>`;
}

/** Search while the visitor types. */
export function attachSearch(box, list) {
  box.addEventListener("input", debounce(() => showResults(box, list)));
}
