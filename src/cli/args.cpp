#include "cli/args.hpp"

#include <fmt/format.h>

#include "base/suggest.hpp"

namespace plim::cli {
namespace {

// Extends the command name word by word: "explain" is a group until "error" follows.
class Scanner {
 public:
  explicit Scanner(bool tolerant) : tolerant_(tolerant) {}

  Outcome<void> feed(const std::string& word) {
    if (waiting_ != nullptr) {
      line_.flags.push_back({waiting_, word, waiting_spelling_});
      waiting_ = nullptr;
      return {};
    }
    if (flags_ended_ || word.size() < 2 || word[0] != '-') return plain(word);
    just_named_ = false;
    if (word == "--") {
      flags_ended_ = true;
      return {};
    }
    return word[1] == '-' ? long_flag(word) : letters(word);
  }

  Outcome<ParsedLine> finish() {
    if (waiting_ != nullptr && !line_.help)
      return usage_failure(Plm::bad_flag_value, fmt::format("{} needs a value", waiting_spelling_),
                           std::string(waiting_->help));
    return std::move(line_);
  }

  const ParsedLine& line() const { return line_; }

  const Flag* waiting() const { return waiting_; }

  bool flags_ended() const { return flags_ended_; }

 private:
  Outcome<void> plain(const std::string& word) {
    if (line_.command != nullptr) {
      // "servo" and "servo path-test" are different commands.
      const Command* longer = std::exchange(just_named_, false)
                                  ? find_command(fmt::format("{} {}", line_.command->name, word))
                                  : nullptr;
      if (longer != nullptr)
        line_.command = longer;
      else
        line_.arguments.push_back(word);
      return {};
    }
    std::string name = line_.group.empty() ? word : line_.group + " " + word;
    if (const Command* found = find_command(name)) {
      line_.command = found;
      line_.group.clear();
      just_named_ = true;
      return {};
    }
    if (line_.group.empty() && is_group(word)) {
      line_.group = word;
      return {};
    }
    if (line_.help || tolerant_) return {};
    return unknown_command(name);
  }

  Outcome<void> long_flag(const std::string& word) {
    std::size_t equals = word.find('=');
    std::string spelling = word.substr(0, equals);
    const Flag* flag = find_flag(line_.command, std::string_view(spelling).substr(2));
    if (flag == nullptr) return unknown_flag(spelling);
    if (equals != word.npos)
      add(flag, word.substr(equals + 1), spelling);
    else if (flag->takes_value())
      wait_for(flag, spelling);
    else
      add(flag, std::string(flag->bare.empty() ? "true" : flag->bare), spelling);
    return {};
  }

  Outcome<void> letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Flag* flag = find_flag(line_.command, word[i]);
      std::string spelling = fmt::format("-{}", word[i]);
      if (flag == nullptr) return unknown_flag(i == 1 && word.size() > 2 ? word : spelling);
      if (i + 1 < word.size() && word[i + 1] == '=') {
        add(flag, word.substr(i + 2), spelling);
        return {};
      }
      if (!flag->takes_value()) {
        add(flag, std::string(flag->bare.empty() ? "true" : flag->bare), spelling);
      } else if (i + 1 < word.size()) {
        add(flag, word.substr(i + 1), spelling);
        return {};
      } else {
        wait_for(flag, spelling);
      }
    }
    return {};
  }

  void add(const Flag* flag, std::string value, std::string spelling) {
    if (flag->name == "help" && value == "true") line_.help = true;
    line_.flags.push_back({flag, std::move(value), std::move(spelling)});
  }

  void wait_for(const Flag* flag, std::string spelling) {
    waiting_ = flag;
    waiting_spelling_ = std::move(spelling);
  }

  Outcome<void> unknown_command(std::string_view name) const {
    std::vector<std::string_view> known;
    for (const Command& command : commands())
      if (!command.hidden) known.push_back(command.name);
    std::string_view near = nearest(name, known);
    return usage_failure(Plm::unknown_command, fmt::format("unknown command \"{}\"", name),
                         near.empty() ? "plimsoll --help lists the commands"
                                      : fmt::format("did you mean \"{}\"?", near));
  }

  Outcome<void> unknown_flag(std::string_view spelling) const {
    if (line_.help || tolerant_) return {};
    std::vector<std::string> names;
    auto add_names = [&](std::span<const Flag> flags) {
      for (const Flag& flag : flags)
        if (!flag.hidden) names.push_back(fmt::format("--{}", flag.name));
    };
    if (line_.command != nullptr) add_names(line_.command->flags);
    add_names(global_flags());
    std::vector<std::string_view> known(names.begin(), names.end());
    std::string_view near = spelling.starts_with("--") ? nearest(spelling, known) : "";
    std::string_view owner = line_.command != nullptr ? line_.command->name : "";
    std::string what = owner.empty() ? fmt::format("unknown flag {}", spelling)
                                     : fmt::format("unknown flag {} of {}", spelling, owner);
    std::string hint = fmt::format("did you mean {}?", near);
    if (near.empty())
      hint = owner.empty() ? "plimsoll options lists those that go before a command"
                           : fmt::format("plimsoll {} --help lists its flags", owner);
    return usage_failure(Plm::unknown_flag, std::move(what), std::move(hint));
  }

  bool tolerant_;
  bool just_named_ = false;  // the last word was the command
  ParsedLine line_;
  const Flag* waiting_ = nullptr;
  std::string waiting_spelling_;
  bool flags_ended_ = false;
};

}  // namespace

Outcome<ParsedLine> parse_line(const std::vector<std::string>& words) {
  Scanner scanner(false);
  for (const std::string& word : words) PLIM_CLI_CHECK(scanner.feed(word));
  return scanner.finish();
}

CursorPlace place_of_cursor(const std::vector<std::string>& words) {
  Scanner scanner(true);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) (void)scanner.feed(words[i]);
  const ParsedLine& line = scanner.line();
  CursorPlace out{.command = line.command, .group = line.group, .value_of = scanner.waiting()};
  out.argument_index = line.arguments.size();
  out.flags_ended = scanner.flags_ended();
  out.flags = line.flags;
  const std::string current = words.empty() ? "" : words.back();
  std::size_t equals = current.find('=');
  if (out.value_of == nullptr && !out.flags_ended && current.starts_with("-") &&
      equals != current.npos) {
    std::string_view name = std::string_view(current).substr(0, equals);
    out.value_of = name.starts_with("--") ? find_flag(line.command, name.substr(2))
                   : name.size() == 2     ? find_flag(line.command, name[1])
                                          : nullptr;
    if (out.value_of != nullptr) out.inline_prefix = current.substr(0, equals + 1);
  }
  return out;
}

}  // namespace plim::cli
