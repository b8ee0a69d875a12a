#include "rivers/geopackage.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What every GeoPackage has, and our two tables. */
static const char schema[] =
    "PRAGMA application_id = 1196444487; PRAGMA user_version = 10300; BEGIN;"
    "CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,"
    " organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);"
    "INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined Cartesian', -1, 'NONE', -1, 'undefined', NULL),"
    " ('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL),"
    " ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563]],"
    "PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]]', NULL);"
    "CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,"
    " description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),"
    " min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));"
    "CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL UNIQUE REFERENCES gpkg_contents(table_name),"
    " column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,"
    " srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys(srs_id), z TINYINT NOT NULL, m TINYINT NOT NULL,"
    " PRIMARY KEY (table_name, column_name));"
    "CREATE TABLE places (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom POINT, kind TEXT, id TEXT, name TEXT,"
    " location_m DOUBLE, probability DOUBLE, properties TEXT);"
    "CREATE TABLE stretches (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom LINESTRING, kind TEXT, id TEXT,"
    " name TEXT, location_m DOUBLE, probability DOUBLE, properties TEXT);"
    "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) VALUES"
    " ('places', 'features', 'places', 4326), ('stretches', 'features', 'stretches', 4326);"
    "INSERT INTO gpkg_geometry_columns VALUES ('places', 'geom', 'POINT', 4326, 0, 0),"
    " ('stretches', 'geom', 'LINESTRING', 4326, 0, 0);";

enum { HEAD = 8, WKB_HEAD = 9, PAIR = 16 };

/* Integers and doubles are written in this machine's byte order; the flags say which one that is. */
static uint8_t byte_order(void) {
  const uint16_t probe = 1;
  uint8_t low;
  memcpy(&low, &probe, 1);
  return low;
}

static size_t put_pair(uint8_t *out, const json_t *pair) {
  const double xy[2] = {json_number_value(json_array_get(pair, 0)), json_number_value(json_array_get(pair, 1))};
  memcpy(out, xy, PAIR);
  return PAIR;
}

/* The header of a geometry and its well-known binary; to be freed. */
static uint8_t *binary(const json_t *coordinates, bool line, size_t *size) {
  const size_t count = line ? json_array_size(coordinates) : 1;
  uint8_t *out = malloc(HEAD + WKB_HEAD + PAIR * count);
  if (!out) {
    return NULL;
  }
  const int32_t srs = 4326;
  const uint32_t type = line ? 2 : 1, points = (uint32_t)count;
  memcpy(out, (uint8_t[]){'G', 'P', 0, byte_order()}, 4);
  memcpy(out + 4, &srs, 4);
  out[HEAD] = byte_order();
  memcpy(out + HEAD + 1, &type, 4);
  size_t length = HEAD + 5;
  if (line) {
    memcpy(out + length, &points, 4);
    length += 4;
    for (size_t i = 0; i < count; i++) {
      length += put_pair(out + length, json_array_get(coordinates, i));
    }
  } else {
    length += put_pair(out + length, coordinates);
  }
  *size = length;
  return out;
}

static void bind_text(sqlite3_stmt *statement, int at, const json_t *value) {
  if (json_is_string(value)) {
    sqlite3_bind_text(statement, at, json_string_value(value), -1, SQLITE_TRANSIENT);
  }
}

static void bind_number(sqlite3_stmt *statement, int at, const json_t *value) {
  if (json_is_number(value)) {
    sqlite3_bind_double(statement, at, json_number_value(value));
  }
}

static bool insert(sqlite3 *db, const json_t *feature) {
  const json_t *geometry = json_object_get(feature, "geometry"), *p = json_object_get(feature, "properties");
  const char *type = json_string_value(json_object_get(geometry, "type"));
  const bool line = type && strcmp(type, "LineString") == 0;
  if (!type || (!line && strcmp(type, "Point") != 0)) {
    return true;
  }
  size_t size = 0;
  uint8_t *blob = binary(json_object_get(geometry, "coordinates"), line, &size);
  char *text = json_dumps(p, JSON_COMPACT);
  sqlite3_stmt *statement = NULL;
  const char *sql = line ? "INSERT INTO stretches (geom, kind, id, name, location_m, probability, properties)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?)"
                         : "INSERT INTO places (geom, kind, id, name, location_m, probability, properties)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?)";
  bool good = blob && text && sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
  if (good) {
    sqlite3_bind_blob(statement, 1, blob, (int)size, SQLITE_TRANSIENT);
    bind_text(statement, 2, json_object_get(p, "kind"));
    bind_text(statement, 3, json_object_get(p, "id"));
    bind_text(statement, 4, json_object_get(p, "name"));
    bind_number(statement, 5, json_object_get(p, "location_m"));
    bind_number(statement, 6, json_object_get(p, "probability"));
    sqlite3_bind_text(statement, 7, text, -1, SQLITE_TRANSIENT);
    good = sqlite3_step(statement) == SQLITE_DONE;
  }
  sqlite3_finalize(statement);
  free(text);
  free(blob);
  return good;
}

hw_status hw__geopackage_write(const char *path, const json_t *features, hw_error *error) {
  sqlite3 *db = NULL;
  unlink(path);
  bool good = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK;
  size_t i;
  json_t *feature;
  json_array_foreach(features, i, feature) {
    good = good && insert(db, feature);
  }
  good = good && sqlite3_exec(db, "COMMIT;", NULL, NULL, NULL) == SQLITE_OK;
  if (!good) {
    snprintf(error->text, sizeof error->text, "%s: %s", path, db ? sqlite3_errmsg(db) : hw_status_text(HW_ENOMEM));
  }
  sqlite3_close(db);
  return good ? HW_OK : HW_EIO;
}
