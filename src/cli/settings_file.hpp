// Resolves the value of a flag: from the command line, then the environment, then the settings
// file, then the default in the table.
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

// ${XDG_CONFIG_HOME:-~/.config}/plimsoll/config.yaml. A key is the name of a flag, or the name of a
// command with its flags below. Unknown keys are errors.
class SettingsFile {
 public:
  // The result is empty if the file or the home directory does not exist.
  static Outcome<SettingsFile> load(const kube::GetEnv& env);
  static Outcome<SettingsFile> parse(std::string_view text, std::string path);

  std::optional<Value> find(const Command* command, const Flag& flag) const;

 private:
  Outcome<void> check(const json::value& value, std::string pointer, std::string command) const;
  Failure mistake(const Error& error) const;
  std::optional<YamlDocument> document_;
  std::string path_;
};

// The values of all flags of the command, each checked against its type and choices.
Outcome<Values> settle(const ParsedLine& line, const kube::GetEnv& env, const SettingsFile& file);

Result<bool> parse_boolean(std::string_view text);  // true, false, 1, 0, yes, no, on, off
Result<std::chrono::milliseconds> parse_wait(std::string_view text);  // "1m30s", "500ms", "0"

}  // namespace plim::cli
