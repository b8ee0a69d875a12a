/* MQTT on the wire: what goes out is what the standard says, what comes in is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mqtt/packet.h"

static void test_connect_keeps_the_session_and_carries_credentials(void **state) {
  (void)state;
  uint8_t packet[128];
  const hw__mqtt_login login = {"hw", "ann", "pw", 30};
  const size_t size = hw__mqtt_write_connect(&login, packet, sizeof packet);
  /* MQTT 3.1.1, section 3.1: flags 0xc0 are user and password, clean session off. */
  static const uint8_t expected[] =
      "\x10\x17\x00\x04MQTT\x04\xc0\x00\x1e\x00\x02hw\x00\x03"
      "ann\x00\x02pw";
  assert_int_equal(size, sizeof expected - 1);
  assert_memory_equal(packet, expected, size);
  assert_int_equal(hw__mqtt_write_connect(&login, packet, 20), 0); /* does not fit: nothing, not a part */
}

/* Each as MQTT 3.1.1 has it, in a buffer that it fills, and not at all in one that is a byte short. */
static void test_small_packets_are_the_standards(void **state) {
  (void)state;
  uint8_t out[300];
  static const uint8_t subscribe[] =
      "\x82\x08\x01\x25\x00\x03"
      "a/b\x01",
                       puback[] = "\x40\x02\x12\x34";
  assert_int_equal(hw__mqtt_write_subscribe("a/b", 0x125, out, 10), 10);
  assert_memory_equal(out, subscribe, 10);
  assert_int_equal(hw__mqtt_write_subscribe("a/b", 0x125, out, 9), 0);
  assert_int_equal(hw__mqtt_write_puback(0x1234, out, 4), 4);
  assert_memory_equal(out, puback, 4);
  assert_int_equal(hw__mqtt_write_puback(0x1234, out, 3), 0);
  assert_int_equal(hw__mqtt_write_ping(out, 2), 2);
  assert_memory_equal(out, "\xc0\x00", 2);
  assert_int_equal(hw__mqtt_write_ping(out, 1), 0);
  assert_int_equal(hw__mqtt_write_disconnect(out, 2), 2);
  assert_memory_equal(out, "\xe0\x00", 2);
  char filter[224] = "";
  for (size_t size = 122; size < 124; size++) { /* 127 bytes is the most that one byte of length tells */
    memset(filter, 'x', size);
    const size_t head = size == 122 ? 2 : 3;
    assert_int_equal(hw__mqtt_write_subscribe(filter, 7, out, sizeof out), head + 5 + size);
    assert_memory_equal(out, size == 122 ? "\x82\x7f\x00\x07" : "\x82\x80\x01\x00\x07", head + 2);
  }
  const hw__mqtt_login nobody = {.client = "hw", .keep_alive_s = 258};
  assert_int_equal(hw__mqtt_write_connect(&nobody, out, sizeof out), 16);
  assert_memory_equal(out, "\x10\x0e\x00\x04MQTT\x04\x00\x01\x02\x00\x02hw", 16);
}

/* A length of four bytes is the longest; what has not come yet is waited for. */
static void test_lengths_are_read_to_their_last_byte(void **state) {
  (void)state;
  static uint8_t packet[20000] = "\x30\x80\x80\x01"; /* 16384 bytes */
  hw__mqtt_packet read;
  assert_int_equal(hw__mqtt_next(packet, 3, sizeof packet, &read), 0);
  assert_int_equal(hw__mqtt_next(packet, 4 + 16383, sizeof packet, &read), 0);
  assert_int_equal(hw__mqtt_next(packet, 4 + 16384, 16384, &read), 1);
  assert_true(read.size == 4 + 16384 && read.body == packet + 4 && read.body_size == 16384 && !read.cut);
  assert_int_equal(hw__mqtt_next(packet, 4 + 16383, 16383, &read), 1);
  assert_true(read.size == 4 + 16384 && read.body_size == 16383 && read.cut);
  static const uint8_t four[] = "\x3b\x80\x80\x80\x01";
  assert_int_equal(hw__mqtt_next(four, 5, 0, &read), 1);
  assert_true(read.size == 5 + 2097152 && read.type == 3 && read.flags == 11);
}

static void test_packets_are_cut_where_they_end(void **state) {
  (void)state;
  hw__mqtt_packet packet;
  static const uint8_t two[] = "\x40\x02\x00\x07\xd0\x00";
  assert_int_equal(hw__mqtt_next(two, 6, 100, &packet), 1);
  assert_int_equal(packet.size, 4);
  assert_int_equal(hw__mqtt_next(two + 4, 2, 100, &packet), 1);
  assert_int_equal(packet.type, HW_MQTT_PINGRESP);
  for (size_t part = 0; part < 4; part++) {
    assert_int_equal(hw__mqtt_next(two, part, 100, &packet), 0);
  }
  static const uint8_t endless[] = "\x30\xff\xff\xff\xff\x01", large[] = "\x30\xe8\x07", none[] = "\x00\x00";
  assert_int_equal(hw__mqtt_next(endless, 6, 100, &packet), -1);
  assert_int_equal(hw__mqtt_next(large, 3, 100, &packet), 0); /* 1000 bytes, of which the first 100 are wanted */
  assert_int_equal(hw__mqtt_next(none, 2, 100, &packet), -1);
}

static void test_a_packet_beyond_the_limit_is_cut_and_keeps_its_number(void **state) {
  (void)state;
  uint8_t large[200] =
      "\x32\xe8\x07\x00\x03"
      "a/b\x01\x02"; /* 1000 bytes of body */
  hw__mqtt_packet packet;
  hw__mqtt_message message;
  assert_int_equal(hw__mqtt_next(large, 102, 100, &packet), 0);
  assert_int_equal(hw__mqtt_next(large, 103, 100, &packet), 1);
  assert_true(packet.cut && packet.size == 1003 && packet.body_size == 100);
  assert_non_null(hw__mqtt_publish(&packet, &message));
  assert_int_equal(message.id, 0x0102);
}

static bool parse(const char *bytes, size_t size, hw__mqtt_message *out) {
  hw__mqtt_packet packet;
  assert_int_equal(hw__mqtt_next((const uint8_t *)bytes, size, 1000, &packet), 1);
  return !hw__mqtt_publish(&packet, out);
}

static void test_publishes_that_break_the_rules_are_refused(void **state) {
  (void)state;
  hw__mqtt_message message;
  assert_true(
      parse("\x32\x08\x00\x03"
            "a/b\x00\x09!",
            10, &message));
  assert_string_equal(message.topic, "a/b");
  assert_int_equal(message.id, 9);
  assert_int_equal(message.payload_size, 1);
  assert_true(parse("\x30\x05\x00\x03"
                    "a/b",
                    7, &message) &&
              message.id == 0 && message.payload_size == 0);
  assert_false(
      parse("\x32\x07\x00\x03"
            "a/b\x00\x00",
            9, &message)); /* id 0 */
  assert_false(
      parse("\x34\x07\x00\x03"
            "a/b\x00\x09",
            9, &message)); /* QoS 2 */
  assert_false(
      parse("\x32\x05\x00\x09"
            "a/b",
            7, &message)); /* topic beyond the packet */
  assert_false(
      parse("\x30\x05\x00\x03"
            "a\0b",
            7, &message));                                      /* zero in the topic */
  assert_false(parse("\x32\x04\x00\x00\x00\x09", 6, &message)); /* no topic, but a number to acknowledge */
  assert_int_equal(message.id, 9);
  char long_topic[2 + 1 + 2 + 256 + 2] = "\x32\x84\x02\x01\x00";
  memset(long_topic + 5, 'a', 256);
  long_topic[sizeof long_topic - 1] = 7;
  assert_false(parse(long_topic, sizeof long_topic, &message));
  assert_int_equal(message.id, 7);
}

static void test_topics_name_a_river_and_a_sensor(void **state) {
  (void)state;
  char river[8], sensor[8];
  assert_true(hw__mqtt_topic("headwater/demo/s1", river, sensor, sizeof river));
  assert_string_equal(river, "demo");
  assert_string_equal(sensor, "s1");
  static const char *const wrong[] = {"headwater/demo",  "headwater//s1", "headwater/demo/",
                                      "headwater/a/b/c", "other/demo/s1", "headwater/much-too-long/s1"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_false(hw__mqtt_topic(wrong[i], river, sensor, sizeof river));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_connect_keeps_the_session_and_carries_credentials),
      cmocka_unit_test(test_small_packets_are_the_standards),
      cmocka_unit_test(test_lengths_are_read_to_their_last_byte),
      cmocka_unit_test(test_packets_are_cut_where_they_end),
      cmocka_unit_test(test_a_packet_beyond_the_limit_is_cut_and_keeps_its_number),
      cmocka_unit_test(test_publishes_that_break_the_rules_are_refused),
      cmocka_unit_test(test_topics_name_a_river_and_a_sensor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
