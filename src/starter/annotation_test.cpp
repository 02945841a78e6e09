#include "starter/annotation.h"

#include <sched.h>
#include <string>

#include <gtest/gtest.h>

namespace {

// The value as the starter finds it in the file.
std::string found(std::string file, const char* key) {
  Message message{};
  char* value = nullptr;
  if (!find_annotation(file.data(), key, &value, &message))
    return "refused: " + std::string(message.text);
  return value ? value : "nothing";
}

class StarterElement : public ::testing::Test {
 public:
  ~StarterElement() override { free_all(&element_.memory); }

 protected:
  bool read(std::string json, const char* container = "c") {
    free_all(&element_.memory);
    json_ = std::move(json);
    return read_element(json_.data(), container, &element_, &message_);
  }

  // Why it is refused; empty if it is not.
  std::string refusal(const std::string& process) {
    return read(R"([{"container": "c", "processes": [)" + process + "]}]") ? "" : message_.text;
  }

  std::string json_;
  Element element_{};
  Message message_{};
};

TEST(StarterAnnotation, is_decoded_as_the_downward_api_quotes_it) {
  const std::string file =
      "a.nokia.k8s.io/cpus=\"wrong\"\n"
      "nokia.k8s.io/cpus=\"tab\\t quote\\\" slash\\\\ e\\u00e9 byte\\x01\\a face\\U0001f600\"\n"
      "nokia.k8s.io/cpus-not=\"wrong\"\n";
  EXPECT_EQ(found(file, "nokia.k8s.io/cpus"),
            "tab\t quote\" slash\\ e\u00e9 byte\x01\a face\U0001f600");
  EXPECT_EQ(found(file, "example.com/cpus"), "nothing");
  EXPECT_EQ(found("", "nokia.k8s.io/cpus"), "nothing");
}

TEST(StarterAnnotation, is_refused_when_it_is_quoted_otherwise) {
  for (const char* value : {"plain", "\"open", "\"\\q\"", "\"\\x0\"", "\"\\x00\"", "\"\\ud800\"",
                            "\"\\", "\"a\nb\"", "\"\\U00110000\""}) {
    EXPECT_TRUE(found(std::string("k=") + value, "k").starts_with("refused")) << value;
  }
}

TEST_F(StarterElement, has_the_processes_of_its_container) {
  ASSERT_TRUE(read(R"([
    {"container": "other", "processes": [{"nonsense": {"container": "c"}}]},
    {"container": "c", "onExit": "any", "surprise": [1, {"a": null}], "processes": [
      {"process": "/bin/a", "args": ["-x", "\u00e9\ud83d\ude00\"\/"], "pool": "p1", "cpus": 2,
       "nice": -5, "sched": "fifo:10", "env": {"A": "1", "B": "\n"}},
      {"process": "b", "pool": "p2", "cpus": 160}]}])"))
      << message_.text;
  ASSERT_EQ(element_.count, 2U);
  EXPECT_EQ(element_.on_exit, kAny);
  const Process& first = element_.processes[0];
  EXPECT_STREQ(first.program, "/bin/a");
  EXPECT_STREQ(first.args[0], "-x");
  EXPECT_STREQ(first.args[1], "\u00e9\U0001f600\"/");
  EXPECT_EQ(first.args[2], nullptr);
  EXPECT_STREQ(first.pool, "p1");
  EXPECT_EQ(first.cpus, 2);
  EXPECT_TRUE(first.has_nice);
  EXPECT_EQ(first.nice, -5);
  EXPECT_EQ(first.policy, SCHED_FIFO);
  EXPECT_EQ(first.priority, 10);
  EXPECT_STREQ(first.env[0], "A=1");
  EXPECT_STREQ(first.env[1], "B=\n");
  EXPECT_EQ(first.env[2], nullptr);
  const Process& second = element_.processes[1];
  EXPECT_EQ(second.args[0], nullptr);
  EXPECT_EQ(second.env[0], nullptr);
  EXPECT_FALSE(second.has_nice);
  EXPECT_EQ(second.policy, -1);
}

TEST_F(StarterElement, is_empty_when_nobody_names_the_container) {
  EXPECT_TRUE(read(R"([{"container": "other"}])")) << message_.text;
  EXPECT_EQ(element_.count, 0U);
  EXPECT_TRUE(read("[]"));
  EXPECT_EQ(element_.count, 0U);
}

TEST_F(StarterElement, is_refused_with_what_is_wrong) {
  EXPECT_FALSE(read("{}"));
  EXPECT_FALSE(read("[1]"));
  EXPECT_FALSE(read("[{]"));
  EXPECT_STREQ(message_.text, "the annotation is not JSON at byte 2");
  EXPECT_FALSE(read(R"([{"container" "c"}])"));
  EXPECT_STREQ(message_.text, "the annotation is not JSON at byte 3");
  EXPECT_FALSE(read(R"([{"container": "c"}])"));
  EXPECT_FALSE(read(R"([{"container": "c", "processes": []}])"));
  EXPECT_FALSE(read(R"([{"container": "c", "processes": [1]}])"));
  EXPECT_FALSE(read(R"([{"container": "c", "container": "c"}])"));
  const std::string one =
      R"({"container": "c", "processes": [{"process": "a", "pool": "p", "cpus": 1}]})";
  EXPECT_TRUE(read("[" + one + "]"));
  EXPECT_FALSE(read("[" + one + "," + one + "]"));
  EXPECT_STREQ(message_.text, "the annotation names container c twice");

  EXPECT_EQ(refusal(R"({"process": "a", "pool": "p", "cpus": 1})"), "");
  EXPECT_EQ(refusal(R"({"pool": "p", "cpus": 1})"), "a process has no text in process");
  EXPECT_EQ(refusal(R"({"process": "a", "cpus": 1})"), "a has no text in pool");
  for (const char* cpus : {"0", "-1", "1.5", "\"1\"", "1e3", "null", "99999999999", "[]"})
    EXPECT_EQ(refusal(R"({"process": "a", "pool": "p", "cpus": )" + std::string(cpus) + "}"),
              "cpus of a is not a whole number from 1 on")
        << cpus;
  for (const char* more :
       {R"("args": "x")", R"("args": [1])", R"("args": ["\u0000"])", R"("env": [])",
        R"("env": {"A": 1})", R"("env": {"A=B": "1"})", R"("nice": 20)", R"("sched": "fifo:0")",
        R"("sched": "rr:")", R"("sched": "rr:1x")", R"("sched": "idle")", R"("cpus": 2)"})
    EXPECT_NE(refusal(R"({"process": "a", "pool": "p", "cpus": 1, )" + std::string(more) + "}"), "")
        << more;
}

TEST_F(StarterElement, is_refused_when_it_is_deep_and_read_when_it_is_long) {
  auto nested = [](std::size_t depth) {
    return R"([{"container": "other", "x": )" + std::string(depth, '[') + std::string(depth, ']') +
           "}]";
  };
  EXPECT_TRUE(read(nested(60))) << message_.text;
  EXPECT_FALSE(read(nested(100'000)));
  EXPECT_STREQ(message_.text, "the annotation is nested too deep");
  std::string many = "0";
  for (int i = 0; i < 100'000; ++i) many += ",0";
  EXPECT_TRUE(read(R"([{"container": "other", "x": [)" + many + "]}]")) << message_.text;
}

}  // namespace
