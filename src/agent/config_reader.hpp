// Reads components of a configuration file: tags, options and their types; collects mistakes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/config.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"

namespace plim::agent {

// A component with all defaults filled in, as `check` prints it.
struct Shown {
  std::string tag = {};
  json::value plain = {};  // without members and items
  std::vector<std::pair<std::string, Shown>> members = {};
  std::vector<Shown> items = {};
};

std::string show_yaml(const Shown& root);

struct ReaderNotes {
  std::vector<std::string> errors = {}, warnings = {};
};

struct TextLimits {
  bool absolute_path = false;
  bool path = false;
  bool url = false;
  bool may_be_empty = true;
};

// A place in the file: its tags and values, and where to report mistakes.
class ConfigPlace {
 public:
  ConfigPlace(const YamlDocument& document, std::string pointer, std::string component,
              const GetEnv& env, ReaderNotes& notes);

  std::string pointer_of(std::string_view key) const;
  std::string tag_of(const std::string& pointer) const;

  void error(const std::string& key, std::string_view message);
  void error_at_key(const std::string& key, std::string_view message);
  void error_here(std::string_view message);
  void warn(const std::string& key, std::string_view message);

 protected:
  void error_at(const std::string& pointer, std::string_view message);
  void warn_at(const std::string& pointer, std::string_view message);
  // The value, with !Env replaced by the variable. Another tag is a mistake.
  std::optional<json::value> resolve(const std::string& pointer, const json::value& value);
  ConfigPlace place(std::string pointer, std::string component) const;

  const std::string& pointer() const { return pointer_; }

  const std::string& component_name() const { return component_; }

  const json::value* value() const;  // null: nothing is there

 private:
  std::string with_component(std::string_view message) const;

  const YamlDocument* document_;
  std::string pointer_, component_;
  const GetEnv* env_;
  ReaderNotes* notes_;
};

// The options of one component. Reading a key makes it known; finish() reports unknown keys. After
// a mistake it returns the default and continues.
class Options : public ConfigPlace {
 public:
  explicit Options(ConfigPlace place);

  bool has(std::string_view key) const;  // given, and not null
  std::string text(const std::string& key, std::string fallback, TextLimits limits = {});
  std::optional<std::string> optional_text(const std::string& key, TextLimits limits = {});
  double number(const std::string& key, double low, double high, double fallback);
  std::optional<double> optional_number(const std::string& key, double low, double high);
  bool boolean(const std::string& key, bool fallback);
  std::optional<bool> optional_boolean(const std::string& key);
  std::vector<std::string> texts(const std::string& key, std::vector<std::string> fallback);
  std::optional<std::vector<std::string>> optional_texts(const std::string& key);
  // Converts scalars of any type to text; keys must be valid label names.
  Labels labels(const std::string& key);
  // For options with more than one type: !Env is replaced; empty after a mistake.
  std::optional<json::value> scalar(const std::string& key);
  // The members of a map, each as scalar() would give it.
  std::vector<std::pair<std::string, json::value>> scalars(const std::string& key,
                                                           std::string_view expected);
  // For options with several forms: the value as written. The key becomes known.
  const json::value* raw(const std::string& key);

  // The tag of a component; "" if the key is missing. A tag that is not in `choices` is a mistake.
  std::string component(const std::string& key, const std::vector<std::string_view>& choices,
                        bool required);
  Options below(const std::string& key, std::string component) const;
  Options item(const std::string& key, std::size_t index, std::string component) const;

  void finish();

  void show(const std::string& key, Shown value);
  void show(const std::string& key, json::value value);

  Shown take_shown() { return std::move(shown_); }

 private:
  void wrong_type(const std::string& key, std::string_view expected);

  const json::object* members_ = nullptr;
  std::set<std::string, std::less<>> known_;
  Shown shown_;
};

const std::vector<std::string_view>& known_tags();

}  // namespace plim::agent
