// Where a flag's value comes from: the flag, then the environment, then the settings file, then the
// table's default.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/yaml.hpp"
#include "cli/args.hpp"
#include "cli/values.hpp"
#include "kube/config.hpp"

namespace plim::cli {

// ${XDG_CONFIG_HOME:-~/.config}/plimsoll/config.yaml. Keys are names of flags, or of commands with
// their flags below; a key the table does not know is an error.
class SettingsFile {
 public:
  // An empty one when there is no such file, or no home to look for it.
  static Outcome<SettingsFile> load(const kube::GetEnv& env);
  static Outcome<SettingsFile> parse(std::string_view text, std::string path);

  std::optional<Value> find(const Command* command, const Flag& flag) const;

 private:
  Outcome<void> check(const json::value& value, std::string pointer, std::string command) const;
  Failure mistake(const Error& error) const;
  std::optional<YamlDocument> document_;
  std::string path_;
};

// Values of all flags of the line's command, each checked against its type and choices.
Outcome<Values> settle(const ParsedLine& line, const kube::GetEnv& env, const SettingsFile& file);

Result<bool> parse_boolean(std::string_view text);  // true, false, 1, 0, yes, no, on, off
Result<std::chrono::milliseconds> parse_wait(std::string_view text);  // "1m30s", "500ms", "0"

}  // namespace plim::cli
