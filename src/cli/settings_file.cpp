#include "cli/settings_file.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/files.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"

namespace plim::cli {
namespace {

// Says why `text` is not a valid value of the flag; "" if it is valid.
std::string objection(const Command* command, const Flag& flag, const std::string& text) {
  std::string_view choices = choices_of(command, flag);
  if (!choices.empty() && !text.empty() && !is_choice(choices, text)) {
    std::vector<std::string_view> words = split_choices(choices);
    if (std::ranges::find(words, text) != words.end() && text.ends_with('='))
      return fmt::format("a template must follow {}", text);
    return fmt::format("expected one of {}", fmt::join(words, ", "));
  }
  switch (flag.type) {
    case Type::boolean:
      return parse_boolean(text) ? "" : "expected true or false";
    case Type::integer:
      return parse_int<std::int64_t>(text) ? "" : "expected a number";
    case Type::duration:
      return parse_wait(text) ? "" : "expected a duration such as 500ms, 30s or 1m30s";
    case Type::text:
      break;
  }
  return "";
}

std::string scalar_text(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  return to_json(value);
}

// A general setting ("output: wide") applies to commands that support it. For other commands it is
// not an error.
bool is_general_misfit(const Command* command, const Flag& flag, const std::string& text) {
  return flag.name == "output" && !is_choice(command->formats, text);
}

std::optional<Value> from_environment(const Command* command, const Flag& flag,
                                      const kube::GetEnv& env) {
  std::string name = environment_name(command, flag);
  auto text = env(name);
  bool is_global = find_flag(nullptr, flag.name) == &flag;
  if ((!text || text->empty()) && is_global) {
    name = environment_name(nullptr, flag);
    text = env(name);
    if (text && is_general_misfit(command, flag, *text)) return std::nullopt;
  }
  if (!text || text->empty()) return std::nullopt;
  return Value{*text, Origin::environment, name};
}

Outcome<Value> settle_one(const ParsedLine& line, const Flag& flag, const kube::GetEnv& env,
                          const SettingsFile& file) {
  Value out{std::string(flag.fallback)};
  // The last of several equal flags wins, as in kubectl.
  auto given = std::ranges::find(line.flags.rbegin(), line.flags.rend(), &flag, &GivenFlag::flag);
  if (given != line.flags.rend())
    out = Value{given->value, Origin::flag, given->spelling};
  else if (auto found = from_environment(line.command, flag, env))
    out = std::move(*found);
  else if (auto set = file.find(line.command, flag))
    out = std::move(*set);
  if (out.origin == Origin::fallback) return out;

  if (flag.name == "output" && line.command->formats.empty() && out.origin == Origin::flag)
    return usage_failure(Plm::unknown_flag,
                         fmt::format("{} has no {}", line.command->name, out.where));
  std::string why = objection(line.command, flag, out.text);
  if (why.empty()) return out;
  constexpr std::array kCodes{Plm::internal, Plm::bad_settings_file, Plm::bad_environment,
                              Plm::bad_flag_value};
  return usage_failure(kCodes[static_cast<std::size_t>(out.origin)],
                       fmt::format("{}: {} cannot be used", out.where, quote(out.text)), why);
}

}  // namespace

Result<bool> parse_boolean(std::string_view text) {
  std::string lower = to_lower(text);
  for (std::string_view yes : {"true", "1", "yes", "on", "t"})
    if (lower == yes) return true;
  for (std::string_view no : {"false", "0", "no", "off", "f"})
    if (lower == no) return false;
  return fail(Code::invalid, fmt::format("{} is not true or false", quote(text)));
}

Result<std::chrono::milliseconds> parse_wait(std::string_view text) {
  PLIM_TRY(auto duration, parse_duration(text));
  if (duration.count() < 0) return fail(Code::invalid, "a duration must not be negative");
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

Outcome<SettingsFile> SettingsFile::load(const kube::GetEnv& env) {
  std::string folder = env("XDG_CONFIG_HOME").value_or("");
  if (folder.empty()) {
    std::string home = env("HOME").value_or("");
    if (home.empty()) return SettingsFile{};
    folder = home + "/.config";
  }
  std::string path = folder + "/plimsoll/config.yaml";
  auto text = read_file(path);
  if (text) return parse(*text, std::move(path));
  // In a container the home directory may belong to another user.
  const bool locked =
      text.error().code == Code::forbidden && ::access((folder + "/plimsoll").c_str(), X_OK) != 0;
  if (text.error().code == Code::not_found || locked) return SettingsFile{};
  Failure failure = file_failure(Plm::bad_settings_file, text.error());
  failure.exit = 2;
  return tl::unexpected(std::move(failure));
}

Outcome<SettingsFile> SettingsFile::parse(std::string_view text, std::string path) {
  SettingsFile out;
  out.path_ = std::move(path);
  auto document = parse_yaml_document(text, out.path_);
  if (!document) return tl::unexpected(out.mistake(document.error()));
  out.document_ = std::move(*document);
  if (!out.document_->value().is_null()) PLIM_CLI_CHECK(out.check(out.document_->value(), "", ""));
  return out;
}

Failure SettingsFile::mistake(const Error& error) const {
  return Failure{.code = Plm::bad_settings_file, .exit = 2, .what = error.message};
}

Outcome<void> SettingsFile::check(const json::value& value, std::string pointer,
                                  std::string command) const {
  const json::object* object = value.if_object();
  if (object == nullptr)
    return tl::unexpected(
        mistake(document_->error_at(pointer, "expected names of flags with their values")));
  for (const auto& [key, below] : *object) {
    std::string here = fmt::format("{}/{}", pointer, std::string_view(key));
    std::string longer =
        command.empty() ? std::string(key) : fmt::format("{} {}", command, std::string_view(key));
    const Command* known = find_command(longer);
    if (below.is_object() && ((known != nullptr && !known->hidden) || is_group(longer))) {
      PLIM_CLI_CHECK(check(below, here, longer));
      continue;
    }
    const Flag* flag = find_flag(command.empty() ? nullptr : find_command(command), key);
    if (flag == nullptr || flag->name == "help") {
      std::string what =
          fmt::format("{} is not a flag{}", quote(key),
                      command.empty() ? " of all commands and not a command" : " of " + command);
      return tl::unexpected(mistake(document_->error_at_key(here, what)));
    }
    if (below.is_structured() || below.is_null())
      return tl::unexpected(mistake(document_->error_at(
          here, fmt::format("expected a value for {}", std::string_view(key)))));
  }
  return {};
}

std::optional<Value> SettingsFile::find(const Command* command, const Flag& flag) const {
  if (!document_) return std::nullopt;
  const json::value* section = &document_->value();
  for (std::string_view word : split(command->name, ' '))
    section = section == nullptr ? nullptr : plim::find(*section, {word});
  if (section != nullptr)
    if (const json::value* found = plim::find(*section, {flag.name}))
      return Value{scalar_text(*found), Origin::file,
                   fmt::format("{}: {}.{}", path_, command->name, flag.name)};
  bool is_global = find_flag(nullptr, flag.name) == &flag;
  const json::value* found = is_global ? plim::find(document_->value(), {flag.name}) : nullptr;
  if (found == nullptr || found->is_object()) return std::nullopt;
  std::string text = scalar_text(*found);
  if (is_general_misfit(command, flag, text)) return std::nullopt;
  return Value{std::move(text), Origin::file, fmt::format("{}: {}", path_, flag.name)};
}

Outcome<Values> settle(const ParsedLine& line, const kube::GetEnv& env, const SettingsFile& file) {
  Values out;
  auto settle_all = [&](std::span<const Flag> flags) -> Outcome<void> {
    for (const Flag& flag : flags) {
      PLIM_CLI_TRY(Value value, settle_one(line, flag, env, file));
      out.set(flag.name, std::move(value));
    }
    return {};
  };
  PLIM_CLI_CHECK(settle_all(global_flags()));
  PLIM_CLI_CHECK(settle_all(line.command->flags));
  return out;
}

}  // namespace plim::cli
