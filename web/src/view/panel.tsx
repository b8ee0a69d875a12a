/* A titled part of the screen. */
import type { ComponentChildren } from "preact";

interface Props {
  id: string;
  title: string;
  note?: ComponentChildren;
  tools?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export function Panel({ id, title, note, tools, class: name, children }: Props) {
  return (
    <section class={`panel ${name ?? ""}`} aria-labelledby={`${id}-title`} id={id}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {note && <p class="note">{note}</p>}
        {tools && <div class="tools">{tools}</div>}
      </header>
      {children}
    </section>
  );
}
