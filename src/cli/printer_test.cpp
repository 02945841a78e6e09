#include "cli/printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/settings_file.hpp"

namespace plim::cli {
namespace {

using ::testing::HasSubstr;

// What `raw /x` with these flags makes of a value, or the error.
std::string printed(std::vector<std::string> flags, const json::value& value,
                    bool streaming = false) {
  std::string out, err;
  Writer out_writer(out), err_writer(err);
  World world{[](std::string_view) { return std::nullopt; }, out_writer, err_writer, {}};
  flags.insert(flags.begin(), {"raw", "/x"});
  auto line = parse_line(flags);
  if (!line) return line.error().what;
  auto values = settle(*line, world.env, SettingsFile{});
  if (!values) return values.error().what;
  Context context{world, *line->command, *values, line->arguments, "plimsoll"};
  auto printer = Printer::from(context);
  if (!printer) return fmt::format("{} {}", code_name(printer.error().code), printer.error().what);
  auto done = streaming ? printer->print_next(value) : printer->print(value);
  if (done && streaming) done = printer->print_next(value);
  return done ? out : done.error().what;
}

json::value pods() {
  return parse_json(R"({"kind": "PodList", "apiVersion": "v1", "items": [
    {"metadata": {"name": "web", "labels": {"a": "1"}}, "spec": {"containers": [{"name": "x"}, {"name": "y"}]}},
    {"metadata": {"name": "database-long"}}]})")
      .value();
}

TEST(Output, prints_json_and_yaml) {
  json::value value = {{"a", 1}, {"b", {{"c", "yes"}}}};
  EXPECT_EQ(printed({"-o", "json"}, value),
            "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": \"yes\"\n    }\n}\n");
  EXPECT_EQ(printed({"--json"}, value), printed({"-o", "json"}, value));
  EXPECT_EQ(printed({"-o", "yaml"}, value), "a: 1\nb:\n  c: \"yes\"\n");
}

TEST(Output, prints_names_as_kubectl_does) {
  EXPECT_EQ(printed({"-o", "name"}, pods()), "pod/web\npod/database-long\n");
  json::value deployment = {
      {"kind", "Deployment"}, {"apiVersion", "apps/v1"}, {"metadata", {{"name", "d"}}}};
  EXPECT_EQ(printed({"-o", "name"}, deployment), "deployment.apps/d\n");
  json::value event = {{"type", "ADDED"}, {"object", deployment}};
  EXPECT_EQ(printed({"-o", "name"}, event), "deployment.apps/d\n");
  EXPECT_EQ(printed({"-o", "name"}, {{"major", "1"}}), "");
  EXPECT_EQ(printed({"-o", "name"}, {{"name", "mine"}}), "mine\n");
}

TEST(Output, prints_custom_columns) {
  EXPECT_EQ(
      printed({"-o", "custom-columns=NAME:.metadata.name,C:.spec.containers[*].name"}, pods()),
      "NAME            C\nweb             x,y\ndatabase-long   <none>\n");
  EXPECT_EQ(printed({"-o", "custom-columns=N:metadata.name", "--no-headers"}, pods()),
            "web\ndatabase-long\n");
  EXPECT_EQ(printed({"-o", "custom-columns=A:.metadata['name','x'],B:{.kind}"}, {{"kind", "b"}}),
            "A        B\n<none>   b\n");
}

TEST(Output, prints_jsonpath_without_a_line_end) {
  EXPECT_EQ(printed({"-o", "jsonpath={.items[*].metadata.name}"}, pods()), "web database-long");
}

TEST(Output, streams_one_value_after_the_other) {
  json::value value = {{"a", 1}};
  EXPECT_EQ(printed({"-o", "json"}, value, true), "{\"a\":1}\n{\"a\":1}\n");
  EXPECT_EQ(printed({"-o", "yaml"}, value, true), "---\na: 1\n---\na: 1\n");
  EXPECT_EQ(printed({"-o", "jsonpath={.a}"}, value, true), "1\n1\n");
  EXPECT_EQ(printed({"-o", "custom-columns=A:.a"}, value, true), "A\n1\n1\n");
}

TEST(Output, mistakes_in_templates_name_the_place) {
  EXPECT_THAT(printed({"-o", "jsonpath={.a["}, 1), HasSubstr("PLM-1008 jsonpath, column 5"));
  EXPECT_THAT(printed({"-o", "custom-columns=A"}, 1), HasSubstr("\"A\" is not HEADER:EXPRESSION"));
  EXPECT_THAT(printed({"-o", "custom-columns=A:.b["}, 1),
              HasSubstr("column \"A\": jsonpath, column 4"));
}

TEST(Terminal, wraps_between_words_only_where_there_is_a_width) {
  EXPECT_EQ(wrap("a: ", "one two three four five six", 23), "a: one two three four\n   five six\n");
  EXPECT_EQ(wrap("a: ", "one two three four five six", 0), "a: one two three four five six\n");
  EXPECT_EQ(wrap("a: ", std::string(40, 'x'), 23), "a: " + std::string(40, 'x') + "\n");
}

}  // namespace
}  // namespace plim::cli
