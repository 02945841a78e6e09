#include <algorithm>

#include <fmt/format.h>

#include "cli/completion.hpp"

namespace plim::cli {
namespace {

class Completion {
 public:
  Completion(std::string current, const LiveNames& live)
      : current_(std::move(current)), live_(live) {}

  void offer(std::string text, std::string_view description = {}) {
    if (!text.starts_with(current_)) return;
    out_.list.push_back({std::move(text), std::string(description)});
  }

  void values(std::string_view choices, Live kind, const CursorPlace& place,
              const std::string& prefix = {}) {
    for (std::string_view choice : split_choices(choices)) {
      offer(fmt::format("{}{}", prefix, choice));
      if (choice.ends_with('=')) out_.no_space = true;
    }
    // no_space applies to all candidates, so with several of them it would be wrong for some.
    if (out_.list.size() > 1) out_.no_space = false;
    if (kind == Live::file) out_.files = true;
    if (kind == Live::directory) out_.folders = true;
    if (kind == Live::none || kind == Live::file || kind == Live::directory) return;
    for (const Candidate& name : live_(kind, place)) offer(prefix + name.text, name.description);
  }

  void flags(const Command* command) {
    auto add = [&](std::span<const Flag> flags) {
      for (const Flag& flag : flags)
        if (!flag.hidden) offer(fmt::format("--{}", flag.name), flag.help);
    };
    if (command != nullptr) add(command->flags);
    add(global_flags());
  }

  void command_words(const std::string& group) {
    std::string prefix = group.empty() ? "" : group + " ";
    std::string last;
    for (const Command& command : commands()) {
      if (command.hidden || !command.name.starts_with(prefix)) continue;
      std::string_view rest = command.name.substr(prefix.size());
      std::string word(rest.substr(0, rest.find(' ')));
      if (word != last) offer(word, command.summary);
      last = word;
    }
  }

  void argument(const Command& command, const CursorPlace& place) {
    std::size_t index = place.argument_index;
    if (command.positionals.empty()) return;
    if (index >= command.positionals.size()) {
      if (!command.positionals.back().repeats) return;
      index = command.positionals.size() - 1;
    }
    values(command.positionals[index].choices, command.positionals[index].live, place);
  }

  Candidates finish() { return std::move(out_); }

 private:
  std::string current_;
  const LiveNames& live_;
  Candidates out_;
};

}  // namespace

Candidates complete(const std::vector<std::string>& words, const LiveNames& live) {
  CursorPlace place = place_of_cursor(words);
  const std::string current = words.empty() ? "" : words.back();
  Completion out(current, live);
  if (place.value_of != nullptr)
    out.values(choices_of(place.command, *place.value_of), place.value_of->live, place,
               place.inline_prefix);
  else if (current.starts_with("-") && !place.flags_ended)
    out.flags(place.command);
  else if (place.command == nullptr)
    out.command_words(place.group);
  else
    out.argument(*place.command, place);
  return out.finish();
}

}  // namespace plim::cli
