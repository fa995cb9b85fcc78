// SPDX-License-Identifier: Apache-2.0
// Elements made in one call. Texts always become text nodes: what a document says is never read as markup.

export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

function append(parent: Node, child: Child): void {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) child.forEach((one) => append(parent, one));
  else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
}

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "style") (element as HTMLElement).style.cssText = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  children.forEach((child) => append(element, child));
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

export function put(parent: Element, ...children: Child[]): void {
  children.forEach((child) => append(parent, child));
}

export function clear(element: Element): void {
  element.replaceChildren();
}

let ids = 0;
export function freshId(prefix: string): string {
  return `${prefix}-${++ids}`;
}
