// Buttons that copy code, without prompts and output, and excerpts in search results where pages are files.
"use strict";

const plain = (block) => {
  const text = block.textContent;
  const prompt = /^(>>> |\.\.\. |\$ )/;
  if (!/^(>>> |\$ )/m.test(text)) return text;
  const lines = text.split("\n");
  return lines
    .filter((line, at) => prompt.test(line) || (lines[at - 1] || "").endsWith("\\"))
    .map((line) => line.replace(prompt, ""))
    .join("\n");
};

document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the code");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(plain(block));
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.parentElement.append(button);
  }
});

// A browser does not let a page read other files; the search page brings their text with it.
if (typeof EXCERPTS !== "undefined" && location.protocol === "file:") {
  const folder = new URL(".", location.href).pathname;
  window.fetch = async (url) => {
    const name = new URL(url, location.href).pathname.replace(folder, "");
    return new Response(EXCERPTS[name] || "");
  };
  document.addEventListener("DOMContentLoaded", () => { Search.htmlToText = (text) => text; });
}
