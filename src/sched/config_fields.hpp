// Reads the objects of a configuration file strictly. It notes every mistake with its line and the
// field's full name and goes on, so that one run reports all of them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"

namespace plim::sched {

struct FieldNotes {
  std::vector<std::string> errors = {}, warnings = {};
  bool unknown_is_error = true;
};

struct IntRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

// The fields of one object. Keys that were not read are unknown: finish() reports them. After a
// mistake the functions return the fallback.
class Fields {
 public:
  Fields(const YamlDocument& document, FieldNotes& notes);  // the root

  bool has(std::string_view key) const;  // given, and not null
  const json::value* raw(const std::string& key);
  std::string text(const std::string& key, std::string fallback = {});
  std::int64_t integer(const std::string& key, std::int64_t fallback, IntRange range = {});
  double number(const std::string& key, double fallback);
  bool boolean(const std::string& key, bool fallback);
  Nanos duration(const std::string& key, Nanos fallback);
  std::vector<std::string> texts(const std::string& key);
  // One of the words; the index, or `fallback` when it is not given.
  std::size_t choice(const std::string& key, std::span<const std::string_view> words,
                     std::size_t fallback);

  std::optional<Fields> object(const std::string& key);
  std::vector<Fields> objects(const std::string& key);

  void error(std::string_view key, std::string_view message);
  void warn(std::string_view key, std::string_view message);
  void error_here(std::string_view message);
  void warn_here(std::string_view message);
  void finish();

  const std::string& path() const { return path_; }

 private:
  Fields(const YamlDocument& document, std::string pointer, std::string path, FieldNotes& notes);

  std::string pointer_of(std::string_view key) const;
  std::string path_of(std::string_view key) const;
  const json::value* get(const std::string& key);

  const YamlDocument* document_;
  std::string pointer_, path_;
  FieldNotes* notes_;
  const json::object* members_ = nullptr;
  std::set<std::string, std::less<>> known_;
};

}  // namespace plim::sched
