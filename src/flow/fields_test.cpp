#include "flow/fields.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.hpp"
#include "flow/flat_field.hpp"

namespace plim::flow {
namespace {

const std::vector<std::string> kTexts{"a",     "b",  "\"a\":1", "{\"a\":2}", "x|y",
                                      "tab\t", "\\", "ä",       ""};
const std::vector<std::string> kKeys{"a", "b", "c\"", "a.b", "é"};

json::value any_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0:
      return *rc::gen::inRange(-1000, 1000);
    case 1:
      return *rc::gen::inRange(-1000, 1000) / 8.0;
    case 2:
      return *rc::gen::arbitrary<bool>();
    case 3:
      return nullptr;
    case 4:
      return json::value(*rc::gen::elementOf(kTexts));
    case 5: {
      json::object out;
      for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
        out[*rc::gen::elementOf(kKeys)] = any_value(depth - 1);
      return out;
    }
    default:
      return json::array{any_value(depth - 1), any_value(depth - 1)};
  }
}

json::object any_object() {
  json::object out;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) out[*rc::gen::elementOf(kKeys)] = any_value(2);
  return out;
}

// One reader for all records, as in operations: its memory of the last record must do no harm.
RC_GTEST_PROP(Fields, finding_one_is_what_a_parser_finds, ()) {
  static FieldReader reader;
  json::object object = any_object();
  Arena arena;
  Record record =
      arena.copy(*rc::gen::arbitrary<bool>() ? to_json(object) : to_json_indented(object, 2));
  Field field = reader.find(record, FieldPath("a"));
  const json::value* want = object.if_contains("a");
  RC_ASSERT((field.kind == FieldKind::missing) == (want == nullptr));
  if (want != nullptr) RC_ASSERT(to_json(*parse_json(field.raw)) == to_json(*want));
}

TEST(Fields, the_short_cut_takes_flat_records_only) {
  std::size_t from_end = 0;
  Arena arena;
  auto found = [&](std::string_view text) {
    return std::string(find_flat(arena.copy(text), "\"a\"", from_end).raw);
  };
  EXPECT_EQ(found(R"({"b":"x","a": 12})"), "12");
  EXPECT_EQ(found(R"({"b":"y","a": 13})"), "13") << "where it was last time";
  EXPECT_EQ(found(R"({"a":"text","b":1})"), "\"text\"");
  for (const char* other :
       {R"({"b":{"a":1}})", R"({"b":["a"],"a":1})", R"({"b":"\"","a":1})", R"({"b":"a"})",
        R"({"a":tru})", R"({"a":"\u0041"})", R"({"a":1)", R"({"b":" \"a\":1"})", R"({"a"})",
        R"("a":1)", "", "{", R"({"a":1x})", R"({"a":-})"})
    EXPECT_EQ(found(other), "") << other;
}

TEST(Fields, the_short_cut_reads_every_byte_before_the_field_and_none_after) {
  std::size_t from_end = 0;
  Arena arena;
  auto found = [&](const std::string& front, const std::string& behind) {
    Record record = arena.copy("{" + front + R"("a":7)" + behind);
    return find_flat(record, "\"a\"", from_end).raw == "7";
  };
  for (std::size_t size = 1; size < 70; ++size) {
    const std::string text = "\"b\":\"" + std::string(size, 'x') + "\",";
    EXPECT_TRUE(found(text, "}")) << size;
    EXPECT_TRUE(found(text, R"(,"c":{"d":["\""]}})")) << size;
    for (char bad : {'{', '}', '[', ']', '\\', '"'}) {
      std::string spoilt = text;
      spoilt[text.size() - 3] = bad;  // the last x
      EXPECT_FALSE(found(spoilt, "}")) << spoilt;
    }
  }
}

TEST(Fields, the_short_cut_finds_a_key_that_has_moved_a_little_or_far) {
  std::size_t from_end = 0;
  Arena arena;
  for (int digits : {1, 2, 7, 6, 7, 1, 30, 2}) {
    const std::string number(static_cast<std::size_t>(digits), '9');
    Record record = arena.copy(R"({"b":1,"a":)" + number + "}");
    EXPECT_EQ(find_flat(record, "\"a\"", from_end).raw, number);
  }
}

TEST(Fields, a_key_is_found_however_it_is_written) {
  FieldReader reader;
  Arena arena;
  Record record = arena.copy(R"({"\u00fc":{"a\/b":[1]},"n":2})");
  EXPECT_EQ(reader.find(record, FieldPath("ü.a/b")).raw, "[1]");
  EXPECT_EQ(reader.find(record, FieldPath("ü.a/b")).kind, FieldKind::array);
  EXPECT_EQ(reader.find(record, FieldPath("n")).raw, "2");
  EXPECT_EQ(reader.find(record, FieldPath("n.x")).kind, FieldKind::missing);
  EXPECT_EQ(reader.find(record, FieldPath("z")).kind, FieldKind::missing);
}

TEST(Fields, numbers_are_read_whole_or_not_at_all) {
  double value = 0;
  auto read = [&](std::string_view raw) {
    return number_of({.kind = FieldKind::number, .raw = raw}, value);
  };
  EXPECT_TRUE(read("12") && value == 12);
  EXPECT_TRUE(read("-1.5e3") && value == -1500);
  EXPECT_TRUE(read("123456789012345678901234567890") && value > 1e29);
  EXPECT_FALSE(read("1x"));
  EXPECT_FALSE(read("1-2"));
}

}  // namespace
}  // namespace plim::flow
