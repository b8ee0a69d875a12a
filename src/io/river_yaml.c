/* A river out of YAML: the tables below are the format. Meaning and defaults: docs/manual.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/columns_yaml.h"
#include "io/river_yaml.h"

enum { LONGEST_LIST = 10000 };

static hw_status take_quantity(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"median", hw__yaml_take_positive, offsetof(hw_quantity, value), true},
      {"factor", hw__yaml_take_factor, offsetof(hw_quantity, factor), true},
      {"local", hw__yaml_take_factor, offsetof(hw_quantity, local), false},
  };
  hw_quantity quantity = {HW_KNOWN, 0, 1, 0};
  char found[80];
  if (node->type == YAML_MAPPING_NODE) {
    const hw_status status = hw__yaml_mapping(yaml, node, what, FIELDS(fields), &quantity);
    if (status != HW_OK) {
      return status;
    }
    if (quantity.local > quantity.factor) {
      return hw__yaml_fail(yaml, node, "%s has local %g, expected 1 up to its factor, %g", what, quantity.local,
                           quantity.factor);
    }
    quantity.certainty = quantity.factor > 1 ? HW_UNCERTAIN : HW_KNOWN;
  } else if (node->type == YAML_SCALAR_NODE && strcmp((const char *)node->data.scalar.value, "unknown") == 0) {
    quantity.certainty = HW_UNKNOWN;
  } else if (!hw__yaml_number(node, &quantity.value) || !(quantity.value > 0)) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected a positive number, {median: M, factor: F} or unknown", what,
                         hw__yaml_found(node, found));
  }
  *(hw_quantity *)target = quantity;
  return HW_OK;
}

/* Area and discharge are used as numbers; a spread is not. */
static hw_status take_section(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_quantity quantity = {0};
  const hw_status status = take_quantity(yaml, node, what, &quantity);
  if (status != HW_OK) {
    return status;
  }
  if (quantity.certainty == HW_UNCERTAIN) {
    hw__yaml_warn(yaml, node, "the spread of %s is not used, only its median", what);
  }
  *(double *)target = quantity.value;
  return HW_OK;
}

static hw_status take_exponent(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  char found[80];
  double value = 0;
  if (!hw__yaml_number(node, &value) || !(value > 0 && value < 1)) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected a number between 0 and 1", what, hw__yaml_found(node, found));
  }
  *(double *)target = value;
  return HW_OK;
}

static hw_status take_hydraulics(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"velocity_m_s", take_quantity, offsetof(hw_hydraulics, velocity_m_s), false},
      {"dispersion_m2_s", take_quantity, offsetof(hw_hydraulics, dispersion_m2_s), false},
      {"area_m2", take_section, offsetof(hw_hydraulics, area_m2), false},
      {"discharge_m3_s", take_section, offsetof(hw_hydraulics, discharge_m3_s), false},
      {"decay_per_s", hw__yaml_take_not_negative, offsetof(hw_hydraulics, decay_per_s), false},
      {"velocity_exponent", take_exponent, offsetof(hw_hydraulics, velocity_exponent), false},
  };
  hw_hydraulics *h = target;
  const hw_status status = hw__yaml_mapping(yaml, node, what, FIELDS(fields), h);
  if (status != HW_OK) {
    return status;
  }
  if (h->area_m2 > 0 && h->discharge_m3_s > 0) {
    return hw__yaml_fail(yaml, node, "both area_m2 and discharge_m3_s in %s, expected one of them", what);
  }
  for (size_t i = 0; i < 2; i++) {
    if (!hw__yaml_value(yaml, node, fields[i].key)) {
      hw__yaml_warn(yaml, node, "no %s in %s: taken as unknown", fields[i].key, what);
    }
  }
  return HW_OK;
}

/* A number of a reach takes the place of the hydraulics' median; a doubt of its own takes the place of theirs. */
static hw_status take_reach_quantity(hw__yaml *yaml, const yaml_node_t *node, const char *what, double *value,
                                     hw_doubt *doubt) {
  hw_quantity quantity = {0};
  if (node->type != YAML_MAPPING_NODE) {
    return hw__yaml_take_positive(yaml, node, what, value);
  }
  const hw_status status = take_quantity(yaml, node, what, &quantity);
  if (status == HW_OK) {
    *value = quantity.value;
    *doubt = (hw_doubt){quantity.factor, quantity.local};
  }
  return status;
}

static hw_status take_reach_velocity(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_reach *reach = target;
  return take_reach_quantity(yaml, node, what, &reach->velocity_m_s, &reach->velocity_doubt);
}

static hw_status take_reach_dispersion(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_reach *reach = target;
  return take_reach_quantity(yaml, node, what, &reach->dispersion_m2_s, &reach->dispersion_doubt);
}

hw_status hw__river_take_reach(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"to_m", hw__yaml_take_number, offsetof(hw_reach, to_m), true},
      {"velocity_m_s", take_reach_velocity, 0, false},
      {"dispersion_m2_s", take_reach_dispersion, 0, false},
      {"area_m2", hw__yaml_take_positive, offsetof(hw_reach, area_m2), false},
      {"discharge_m3_s", hw__yaml_take_positive, offsetof(hw_reach, discharge_m3_s), false},
      {"decay_per_s", hw__yaml_take_not_negative, offsetof(hw_reach, decay_per_s), false},
  };
  /* It may leave out what the river says: NAN until inherited. */
  hw_reach *reach = target;
  *reach = (hw_reach){.velocity_m_s = NAN, .dispersion_m2_s = NAN, .area_m2 = NAN, .decay_per_s = NAN};
  const hw_status status = hw__yaml_mapping(yaml, node, what, FIELDS(fields), reach);
  if (status == HW_OK && !isnan(reach->area_m2) && reach->discharge_m3_s > 0) {
    return hw__yaml_fail(yaml, node, "both area_m2 and discharge_m3_s in %s, expected one of them", what);
  }
  return status;
}

static hw_status take_sensor(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"id", hw__yaml_take_id, offsetof(hw_sensor, id), true},
      {"branch", hw__river_take_branch_later, 0, false},
      {"name", hw__yaml_take_name, offsetof(hw_sensor, name), false},
      {"location_m", hw__yaml_take_number, offsetof(hw_sensor, location_m), true},
      {"noise_relative", hw__yaml_take_not_negative, offsetof(hw_sensor, noise_relative), false},
      {"noise_absolute_g_m3", hw__yaml_take_not_negative, offsetof(hw_sensor, noise_absolute_g_m3), false},
      {"detection_limit_g_m3", hw__yaml_take_not_negative, offsetof(hw_sensor, detection_limit_g_m3), false},
      {"background_g_m3", hw__yaml_take_not_negative, offsetof(hw_sensor, background_g_m3), false},
      {"gain_factor", hw__yaml_take_factor, offsetof(hw_sensor, gain_factor), false},
      {"discharge_m3_s", hw__yaml_take_positive, offsetof(hw_sensor, discharge_m3_s), false},
      {"section_velocity_m_s", hw__yaml_take_positive, offsetof(hw_sensor, section_velocity_m_s), false},
      {"width_m", hw__yaml_take_positive, offsetof(hw_sensor, width_m), false},
      {"depth_m", hw__yaml_take_positive, offsetof(hw_sensor, depth_m), false},
  };
  hw_sensor_init(target);
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

static hw_status take_candidate(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"id", hw__yaml_take_id, offsetof(hw_candidate, id), true},
      {"branch", hw__river_take_branch_later, 0, false},
      {"name", hw__yaml_take_name, offsetof(hw_candidate, name), false},
      {"location_m", hw__yaml_take_number, offsetof(hw_candidate, location_m), true},
      {"extent_m", hw__yaml_take_not_negative, offsetof(hw_candidate, extent_m), false},
      {"prior", hw__yaml_take_positive, offsetof(hw_candidate, prior), false},
      {"active", hw__river_take_active, 0, false},
      {"active_trust", hw__river_take_trust, offsetof(hw_candidate, active_trust), false},
  };
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

static hw_status take_intake(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"id", hw__yaml_take_id, offsetof(hw_intake, id), true},
      {"branch", hw__river_take_branch_later, 0, false},
      {"name", hw__yaml_take_name, offsetof(hw_intake, name), false},
      {"location_m", hw__yaml_take_number, offsetof(hw_intake, location_m), true},
      {"alarm_g_m3", hw__yaml_take_positive, offsetof(hw_intake, alarm_g_m3), false},
  };
  return hw__yaml_mapping(yaml, node, what, FIELDS(fields), target);
}

hw_status hw__river_take_items(hw__yaml *yaml, const yaml_node_t *node, const char *list, const char *item, size_t size,
                               hw__yaml_take take, void **array, size_t *array_count) {
  size_t count = 0;
  hw_status status = hw__yaml_expect_list(yaml, node, list, &count);
  if (status != HW_OK) {
    return status;
  }
  if (count > LONGEST_LIST) {
    return hw__yaml_fail(yaml, node, "%s is a list of %zu, expected at most %d", list, count, LONGEST_LIST);
  }
  *array = calloc(count + 1, size);
  if (!*array) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  *array_count = count;
  for (size_t i = 0; status == HW_OK && i < count; i++) {
    status = take(yaml, hw__yaml_node(yaml, node->data.sequence.items.start[i]), item, (char *)*array + i * size);
  }
  return status;
}

hw_status hw__river_check_unique(hw__yaml *yaml, const yaml_node_t *node, const char *item, const char *ids,
                                 size_t size, size_t count) {
  size_t again = count;
  if (ids && hw__text_repeated(ids, size, count, &again) != HW_OK) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  if (again == count) {
    return HW_OK;
  }
  const yaml_node_t *at = hw__yaml_node(yaml, node->data.sequence.items.start[again]);
  const yaml_node_t *id = hw__yaml_value(yaml, at, "id");
  return hw__yaml_fail(yaml, id ? id : at, "%s id '%s' a second time, expected unique ids", item, ids + again * size);
}

static hw_status take_reaches(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  return hw__river_take_items(yaml, node, what, "the reach", sizeof(hw_reach), hw__river_take_reach,
                              (void **)&river->reaches, &river->reach_count);
}

static hw_status take_sensors(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  hw_status status = hw__river_take_items(yaml, node, what, "the sensor", sizeof(hw_sensor), take_sensor,
                                          (void **)&river->sensors, &river->sensor_count);
  if (status == HW_OK && river->sensor_count == 0) {
    status = hw__yaml_fail(yaml, node, "sensors is an empty list, expected at least one sensor");
  }
  if (status != HW_OK) {
    return status;
  }
  return hw__river_check_unique(yaml, node, "sensor", river->sensors[0].id, sizeof(hw_sensor), river->sensor_count);
}

static hw_status take_candidates(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  const hw_status status = hw__river_take_items(yaml, node, what, "the candidate", sizeof(hw_candidate), take_candidate,
                                                (void **)&river->candidates, &river->candidate_count);
  if (status != HW_OK) {
    return status;
  }
  return hw__river_check_unique(yaml, node, "candidate", river->candidates[0].id, sizeof(hw_candidate),
                                river->candidate_count);
}

static hw_status take_intakes(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  hw_river *river = target;
  const hw_status status = hw__river_take_items(yaml, node, what, "the intake", sizeof(hw_intake), take_intake,
                                                (void **)&river->intakes, &river->intake_count);
  if (status != HW_OK) {
    return status;
  }
  return hw__river_check_unique(yaml, node, "intake", river->intakes[0].id, sizeof(hw_intake), river->intake_count);
}

hw_status hw__river_take_path(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  char found[80];
  if (node->type != YAML_SCALAR_NODE || node->data.scalar.length == 0 ||
      strlen((const char *)node->data.scalar.value) != node->data.scalar.length) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected a file name", what, hw__yaml_found(node, found));
  }
  /* Relative names count from the river file's own folder. */
  const char *file = (const char *)node->data.scalar.value;
  const char *slash = file[0] == '/' ? NULL : strrchr(yaml->name, '/');
  const size_t folder = slash ? (size_t)(slash - yaml->name) + 1 : 0;
  char *path = malloc(folder + strlen(file) + 1);
  if (!path) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  memcpy(path, yaml->name, folder);
  memcpy(path + folder, file, strlen(file) + 1);
  *(char **)target = path;
  return HW_OK;
}

hw_status hw__river_inherit(hw__yaml *yaml, const yaml_node_t *list, const hw_hydraulics *h, hw_reach *reaches,
                            size_t count, bool discharge_follows) {
  for (size_t i = 0; i < count; i++) {
    hw_reach *r = &reaches[i];
    const yaml_node_t *node = hw__yaml_node(yaml, list->data.sequence.items.start[i]);
    r->velocity_m_s = isnan(r->velocity_m_s) ? h->velocity_m_s.value : r->velocity_m_s;
    r->dispersion_m2_s = isnan(r->dispersion_m2_s) ? h->dispersion_m2_s.value : r->dispersion_m2_s;
    r->decay_per_s = isnan(r->decay_per_s) ? h->decay_per_s : r->decay_per_s;
    if (isnan(r->area_m2) && !(r->discharge_m3_s > 0) && !discharge_follows) {
      r->discharge_m3_s = h->discharge_m3_s;
    }
    if (isnan(r->area_m2) && !discharge_follows) {
      r->area_m2 = r->discharge_m3_s > 0 ? r->discharge_m3_s / r->velocity_m_s : h->area_m2;
    }
    const char *lacking = !(r->velocity_m_s > 0)                    ? "velocity_m_s"
                          : !(r->dispersion_m2_s > 0)               ? "dispersion_m2_s"
                          : !(r->area_m2 > 0) && !discharge_follows ? "area_m2"
                                                                    : NULL;
    if (lacking) {
      return hw__yaml_fail(yaml, node, "no %s in the reach and none in hydraulics, expected one of the two", lacking);
    }
    if (i > 0 && !(r->to_m > r[-1].to_m)) {
      return hw__yaml_fail(
          yaml, hw__yaml_value(yaml, node, "to_m"),
          "the reach ends at %g m and overlaps the one before it, which ends at %g m; expected reaches "
          "from upstream to downstream",
          r->to_m, r[-1].to_m);
    }
  }
  return HW_OK;
}

hw_status hw__river_read(hw__yaml *yaml, hw_river *river) {
  static const hw__yaml_field fields[] = {
      {"name", hw__yaml_take_name, offsetof(hw_river, name), false},
      {"hydraulics", take_hydraulics, offsetof(hw_river, hydraulics), true},
      {"substance", hw__river_take_substance, offsetof(hw_river, substance), false},
      {"reaches", take_reaches, 0, false},
      {"branches", hw__river_take_branches, 0, false},
      {"search", hw__river_take_search, 0, true},
      {"sensors", take_sensors, 0, true},
      {"candidates", take_candidates, 0, false},
      {"none_of_these", hw__river_take_none, offsetof(hw_river, none_prior), false},
      {"intakes", take_intakes, 0, false},
      {"gauges", hw__river_take_gauges, 0, false},
      {"flow", hw__river_take_path, offsetof(hw_river, flow_file), false},
      {"centerline", hw__river_take_path, offsetof(hw_river, centerline), false},
      {"import", hw__columns_take, offsetof(hw_river, import), false},
  };
  const yaml_node_t *root = yaml_document_get_root_node(&yaml->document);
  hw_status status = hw__yaml_mapping(yaml, root, "the river", FIELDS(fields), river);
  if (status == HW_OK && river->reach_count && !river->branch_count) {
    status = hw__river_inherit(yaml, hw__yaml_value(yaml, root, "reaches"), &river->hydraulics, river->reaches,
                               river->reach_count, false);
  }
  if (status == HW_OK) {
    status = hw__river_settle_branches(yaml, root, river);
  }
  if (status == HW_OK) {
    status = hw__river_settle_substance(yaml, root, river);
  }
  if (status == HW_OK) {
    status = hw__river_settle_search(yaml, hw__yaml_value(yaml, root, "search"), river);
  }
  if (status == HW_OK) {
    status = hw__river_check_active(yaml, root, river);
  }
  if (status != HW_OK) {
    return status;
  }
  hw_error sentence;
  status = hw_river_check(river, &sentence);
  if (status == HW_ENOMEM) {
    return hw__fail(yaml->error, status, "%s: %s", yaml->name, sentence.text);
  }
  if (status != HW_OK) {
    return hw__yaml_fail(yaml, root, "%s", sentence.text);
  }
  hw__river_remark(yaml, root, river);
  return HW_OK;
}
