#include "base/metrics.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::metrics {
namespace {

// A strict parser of the format: throws std::string at the first violation.
class Parser {
 public:
  struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value;
  };

  explicit Parser(std::string_view text) : rest_(text) {
    while (!rest_.empty()) {
      if (rest_[0] == '#') {
        header();
      } else {
        sample();
      }
    }
  }

  double value(const std::string& name, const std::map<std::string, std::string>& labels) const {
    for (const Sample& s : samples)
      if (s.name == name && s.labels == labels) return s.value;
    throw "no sample " + name;
  }

  std::vector<Sample> samples;
  std::map<std::string, std::string> help, type;

 private:
  void need(bool condition, const char* what) const {
    if (!condition) throw std::string(what) + " at: " + std::string(rest_.substr(0, 40));
  }

  bool take(std::string_view prefix) {
    if (rest_.substr(0, prefix.size()) != prefix) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }

  std::string name(std::string_view more) {
    const std::string allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const auto end = rest_.find_first_not_of(allowed + std::string(more));
    std::string out(rest_.substr(0, end));
    need(!out.empty() && !std::isdigit(static_cast<unsigned char>(out[0])), "name expected");
    rest_.remove_prefix(out.size());
    return out;
  }

  std::string escaped_until(char end, bool quotes) {
    std::string out;
    for (;;) {
      need(!rest_.empty(), "unexpected end");
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == end) return out;
      need(c != '\n', "line ended early");
      if (c != '\\') {
        out += c;
        continue;
      }
      if (take("n")) {
        out += '\n';
      } else if (take("\\")) {
        out += '\\';
      } else {
        need(quotes && take("\""), "bad escape");
        out += '"';
      }
    }
  }

  void header() {
    if (take("# HELP ")) {
      const std::string family = name(":");
      need(take(" "), "blank expected");
      need(help.emplace(family, escaped_until('\n', false)).second, "second HELP");
      return;
    }
    need(take("# TYPE "), "HELP or TYPE expected");
    const std::string family = name(":");
    need(take(" "), "blank expected");
    need(type.emplace(family, escaped_until('\n', false)).second, "second TYPE");
    need(help.contains(family), "TYPE before HELP");
    const std::set<std::string> known{"counter", "gauge", "histogram", "untyped"};
    need(known.contains(type[family]), "unknown type");
    current_ = family;
  }

  void sample() {
    Sample s;
    s.name = name(":");
    bool in_family = s.name == current_;
    for (const char* suffix : {"_bucket", "_sum", "_count"})
      in_family |= type[current_] == "histogram" && s.name == current_ + suffix;
    need(in_family, "sample outside its family");
    if (take("{")) {
      do {
        const std::string label = name("");
        need(take("=\""), "value expected");
        need(s.labels.emplace(label, escaped_until('"', true)).second, "label twice");
      } while (take(","));
      need(take("}"), "} expected");
    }
    need(take(" "), "blank expected");
    s.value = number(rest_.substr(0, rest_.find('\n')));
    need(take("\n"), "newline expected");
    for (const Sample& other : samples)
      need(other.name != s.name || other.labels != s.labels, "sample twice");
    samples.push_back(std::move(s));
  }

  double number(std::string_view text) {
    rest_.remove_prefix(text.size());
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    if (text == "-Inf") return -std::numeric_limits<double>::infinity();
    double out = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
    need(problem == std::errc() && end == text.data() + text.size(), "number expected");
    return out;
  }

  std::string_view rest_;
  std::string current_;
};

TEST(Metrics, prints_each_family_once_with_all_its_series) {
  Registry registry;
  registry.counter("plimsoll_x_total", "things done", {{"kind", "a"}}).add(3);
  registry.gauge("plimsoll_a_up", "one if up").set(1);
  registry.counter("plimsoll_x_total", "things done", {{"kind", "b"}}).add();
  EXPECT_EQ(registry.expose(),
            "# HELP plimsoll_a_up one if up\n"
            "# TYPE plimsoll_a_up gauge\n"
            "plimsoll_a_up 1\n"
            "# HELP plimsoll_x_total things done\n"
            "# TYPE plimsoll_x_total counter\n"
            "plimsoll_x_total{kind=\"a\"} 3\n"
            "plimsoll_x_total{kind=\"b\"} 1\n");
}

TEST(Metrics, the_same_name_and_labels_are_the_same_object) {
  Registry registry;
  Counter& first = registry.counter("c", "", {{"a", "1"}});
  EXPECT_EQ(&first, &registry.counter("c", "", {{"a", "1"}}));
  EXPECT_NE(&first, &registry.counter("c", "", {{"a", "2"}}));
}

TEST(Metrics, histogram_buckets_add_up) {
  Registry registry;
  Histogram& h = registry.histogram("seconds", "", {0.1, 1, 2.5}, {{"op", "get"}});
  for (double value : {0.05, 0.1, 0.5, 2.5, 99.0}) h.observe(value);
  Parser parsed(registry.expose());
  EXPECT_EQ(parsed.type["seconds"], "histogram");
  EXPECT_EQ(parsed.value("seconds_bucket", {{"op", "get"}, {"le", "0.1"}}), 2);
  EXPECT_EQ(parsed.value("seconds_bucket", {{"op", "get"}, {"le", "1"}}), 3);
  EXPECT_EQ(parsed.value("seconds_bucket", {{"op", "get"}, {"le", "2.5"}}), 4);
  EXPECT_EQ(parsed.value("seconds_bucket", {{"op", "get"}, {"le", "+Inf"}}), 5);
  EXPECT_EQ(parsed.value("seconds_count", {{"op", "get"}}), 5);
  EXPECT_DOUBLE_EQ(parsed.value("seconds_sum", {{"op", "get"}}), 102.15);
}

TEST(Metrics, special_values_are_written_as_prometheus_does) {
  Registry registry;
  registry.gauge("g", "", {{"v", "nan"}}).set(std::nan(""));
  registry.gauge("g", "", {{"v", "inf"}}).set(-std::numeric_limits<double>::infinity());
  registry.gauge("g", "", {{"v", "big"}}).set(1e300);
  Parser parsed(registry.expose());
  EXPECT_TRUE(std::isnan(parsed.value("g", {{"v", "nan"}})));
  EXPECT_EQ(parsed.value("g", {{"v", "inf"}}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed.value("g", {{"v", "big"}}), 1e300);
}

TEST(Metrics, collectors_join_families_and_end_with_their_handle) {
  Registry registry;
  registry.gauge("g", "first", {{"who", "registry"}}).set(1);
  auto collect = [](Exposition& out) {
    out.family("g", "second", Type::gauge).sample({{"who", "collector"}}, 2);
    out.family("a", "alone", Type::untyped).sample(3);
  };
  auto handle = registry.add_collector(collect);
  Parser parsed(registry.expose());
  EXPECT_EQ(parsed.help["g"], "first");
  EXPECT_EQ(parsed.value("g", {{"who", "collector"}}), 2);
  EXPECT_EQ(parsed.value("a", {}), 3);
  handle.reset();
  EXPECT_EQ(Parser(registry.expose()).samples.size(), 1u);
}

TEST(Metrics, threads_lose_no_increment) {
  Registry registry;
  Histogram& h = registry.histogram("h", "", spread_bounds(1, 6));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Counter& c = registry.counter("c", "");
      for (int i = 0; i < 1000; ++i) {
        c.add();
        registry.gauge("g", "").add(1);
        h.observe(i % 100);
      }
    });
  for (int i = 0; i < 20; ++i) Parser(registry.expose());
  for (std::thread& thread : threads) thread.join();
  Parser parsed(registry.expose());
  EXPECT_EQ(parsed.value("c", {}), 4000);
  EXPECT_EQ(parsed.value("g", {}), 4000);
  EXPECT_EQ(parsed.value("h_count", {}), 4000);
  EXPECT_EQ(parsed.value("h_sum", {}), 4 * 10 * 4950);
}

TEST(Metrics, spread_bounds_are_round) {
  EXPECT_EQ(spread_bounds(1, 5), (std::vector<double>{1, 2, 5, 10, 20}));
}

RC_GTEST_PROP(Metrics, any_utf8_label_and_help_comes_back, (const std::vector<char32_t>& points)) {
  std::string text;
  for (char32_t point : points) {
    const char32_t p = point % 0x800;  // one and two bytes, including all special characters
    if (p < 0x80) {
      text += static_cast<char>(p);
    } else {
      text += static_cast<char>(0xc0 | (p >> 6));
      text += static_cast<char>(0x80 | (p & 0x3f));
    }
  }
  text += *rc::gen::element<std::string>("\\", "\"", "\n", "\\n", "{}", "", "#");
  Registry registry;
  registry.counter("c", text, {{"label", text}, {"other", "x"}}).add(7);
  Parser parsed(registry.expose());
  RC_ASSERT(parsed.value("c", {{"label", text}, {"other", "x"}}) == 7);
  RC_ASSERT(parsed.help["c"] == text);
}

RC_GTEST_PROP(Metrics, any_bytes_stay_parseable, (const std::string& bytes)) {
  Registry registry;
  registry.counter("c", bytes, {{"label", bytes}}).add(7);
  RC_ASSERT(Parser(registry.expose()).samples.size() == 1u);
}

TEST(MetricsDeathTest, a_name_has_one_type) {
  Registry registry;
  registry.counter("c", "");
  EXPECT_DEATH(registry.gauge("c", ""), "internal error");
  EXPECT_DEATH(Exposition().family("bad name", "", Type::gauge), "internal error");
}

}  // namespace
}  // namespace plim::metrics
