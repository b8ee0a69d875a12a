/* Whose turn it is: every incident once a round, none twice at a time, and those nobody needs are let go. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "incidents/turns.h"
#include "service_fixture.h"

static hw__catalog *catalog;

static hw__engine *add(hw__turns *turns, int64_t id) {
  const hw__incident incident = {.id = id};
  const hw__solver_options options = {0};
  hw__engine *engine = NULL;
  assert_true(hw__turns_reserve(turns));
  assert_int_equal(hw__engine_create(NULL, hw__catalog_site(catalog, 0), &options, &incident, &engine), HW_OK);
  engine->followed = true;
  hw__turns_add(turns, engine);
  return engine;
}

static void give_run(hw__engine *engine) {
  const hw_problem problem = {.river = &engine->site->river};
  const hw_options options = {0};
  assert_int_equal(hw_run_create(hw_method_find("tgd"), &problem, &options, &engine->run), HW_OK);
}

static void test_every_incident_has_one_turn_per_round(void **state) {
  (void)state;
  hw__turns turns = {0};
  static const int64_t ids[] = {70, 14, 37, 92, 3};
  for (size_t i = 0; i < 5; i++) {
    add(&turns, ids[i]);
  }
  static const int64_t ascending[] = {3, 14, 37, 70, 92};
  for (size_t i = 0; i < 5; i++) {
    hw__engine *engine = hw__turns_take(&turns);
    assert_non_null(engine);
    assert_int_equal(engine->incident.id, ascending[i]);
    assert_int_equal(hw__turns_give_back(&turns, engine, i == 2), i >= 2);
  }
  hw__engine *again = hw__turns_take(&turns); /* one had more to do: another round */
  assert_non_null(again);
  hw__turns_give_back(&turns, again, false);
  for (size_t i = 1; i < 5; i++) {
    hw__turns_give_back(&turns, hw__turns_take(&turns), false);
  }
  assert_null(hw__turns_take(&turns));
  hw__turns_free(&turns);
}

static void test_an_incident_under_way_is_not_taken_twice_and_not_forgotten(void **state) {
  (void)state;
  hw__turns turns = {0};
  add(&turns, 14);
  add(&turns, 37);
  hw__turns_tell(&turns);
  hw__engine *slow = hw__turns_take(&turns), *quick = hw__turns_take(&turns);
  assert_false(hw__turns_give_back(&turns, quick, false));
  hw__turns_tell(&turns); /* a reading for both, while the slow one is still under way */
  assert_ptr_equal(hw__turns_take(&turns), quick);
  hw__turns_give_back(&turns, quick, false);
  assert_null(hw__turns_take(&turns));
  assert_true(hw__turns_give_back(&turns, slow, false));
  assert_ptr_equal(hw__turns_take(&turns), slow);
  hw__turns_free(&turns);
}

static void test_one_that_comes_in_between_keeps_the_order(void **state) {
  (void)state;
  hw__turns turns = {0};
  add(&turns, 14);
  add(&turns, 37);
  hw__turns_tell(&turns);
  hw__engine *first = hw__turns_take(&turns);
  assert_int_equal(first->incident.id, 14);
  add(&turns, 3); /* an older one that somebody looks at */
  hw__engine *second = hw__turns_take(&turns);
  assert_int_equal(second->incident.id, 37);
  assert_int_equal(hw__turns_find(&turns, 3)->incident.id, 3);
  assert_ptr_equal(hw__turns_find(&turns, 14), first);
  assert_null(hw__turns_find(&turns, 15));
  assert_null(hw__turns_find(&turns, 92));
  hw__turns_free(&turns);
}

static void test_finished_incidents_are_let_go_but_for_the_few_looked_at_last(void **state) {
  (void)state;
  hw__turns turns = {0};
  for (int64_t id = 1; id <= 9; id++) {
    hw__engine *engine = add(&turns, id);
    give_run(engine);
    engine->finished = id != 5; /* 5 is open */
    engine->used = id == 2 ? 100 : (uint64_t)id;
    engine->users = id == 4; /* somebody looks at 4 */
  }
  add(&turns, 10)->followed = false; /* was looked at and has no run any more */
  hw__turns_tell(&turns);
  hw__turns_give_back(&turns, hw__turns_take(&turns), false);
  hw__turns_let_go(&turns, 2);
  assert_int_equal(turns.count, 4);
  static const int64_t left[] = {2, 4, 5, 9};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(turns.engines[i]->incident.id, left[i]);
    assert_non_null(turns.engines[i]->run);
  }
  assert_int_equal(hw__turns_take(&turns)->incident.id, 2); /* 1 had its turn, the next is still the next */
  hw__turns_free(&turns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_incident_has_one_turn_per_round),
      cmocka_unit_test(test_an_incident_under_way_is_not_taken_twice_and_not_forgotten),
      cmocka_unit_test(test_one_that_comes_in_between_keeps_the_order),
      cmocka_unit_test(test_finished_incidents_are_let_go_but_for_the_few_looked_at_last),
  };
  catalog = fixture_catalog(1);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  hw__catalog_free(catalog);
  return failed;
}
