/* What can be taken away. */
import type { Incident, River } from "../model";
import { saveBulletin, saveIncident, savePlaces, saveReadings } from "./export";

export function Exports({ river, incident }: { river: River; incident: Incident | undefined }) {
  return (
    <div class="exports" role="group" aria-label="Export">
      <span>Export</span>
      <button type="button" onClick={() => void saveReadings(river, incident)}>
        Readings, CSV
      </button>
      {incident && (
        <button type="button" onClick={() => void saveIncident(incident.id)}>
          Incident, JSON
        </button>
      )}
      <button type="button" onClick={() => void savePlaces(river, incident)}>
        Places, GeoJSON
      </button>
      {incident && (
        <button type="button" onClick={() => void saveBulletin(incident.id)}>
          Bulletin, text
        </button>
      )}
      <button type="button" onClick={() => window.print()}>
        Print
      </button>
      {!incident && <span>Readings of the last day.</span>}
    </div>
  );
}
