/* The four questions of a spill. On a phone those of whoever has to act come first (style.css). */
import { Course, Origin } from "./origin";
import { Damage, Path } from "./intakes";
import type { CardProps } from "./card";

export function Answers(props: CardProps) {
  return (
    <div class="answers">
      <Origin {...props} />
      <Course {...props} />
      <Path {...props} />
      <Damage {...props} />
    </div>
  );
}
