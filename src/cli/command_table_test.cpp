// The table must be usable by all its readers.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/agent_words.hpp"
#include "cli/args.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"

namespace plim::cli {
namespace {

TEST(CommandTable, names_and_letters_are_unique_per_command) {
  std::set<std::string_view> names;
  for (const Command& command : commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    std::set<std::string_view> flags;
    std::set<char> letters;
    auto add = [&](std::span<const Flag> list) {
      for (const Flag& flag : list) {
        EXPECT_TRUE(flags.insert(flag.name).second) << command.name << " --" << flag.name;
        if (flag.letter != 0) {
          EXPECT_TRUE(letters.insert(flag.letter).second) << command.name << " -" << flag.letter;
        }
        EXPECT_EQ(flag.type != Type::boolean, !flag.metavar.empty()) << flag.name;
        EXPECT_TRUE(flag.bare.empty() || is_choice(flag.choices, flag.bare)) << flag.name;
        EXPECT_FALSE(flag.help.empty()) << flag.name;
      }
    };
    add(global_flags());
    add(command.flags);
  }
}

// The completion scripts skip values by the name of a flag only. --images is an exception: a
// catalog for `up`, a switch for the agent. After the switch a word is rarely completed.
TEST(CommandTable, a_flag_takes_a_value_in_all_commands_or_in_none) {
  std::map<std::string, bool> takes_value;
  auto add = [&](std::span<const Flag> list) {
    for (const Flag& flag : list) {
      auto check = [&](std::string spelling) {
        if (spelling == "--images") return;
        auto [at, fresh] = takes_value.emplace(spelling, flag.takes_value());
        EXPECT_EQ(at->second, flag.takes_value()) << spelling;
      };
      check("--" + std::string(flag.name));
      if (flag.letter != 0) check(std::string("-") + flag.letter);
    }
  };
  add(global_flags());
  for (const Command& command : commands()) add(command.flags);
}

TEST(CommandTable, every_help_fits_a_small_terminal_and_starts_with_examples) {
  auto check = [](std::string_view name, const std::string& text) {
    EXPECT_LE(std::ranges::count(text, '\n'), 24) << name << "\n" << text;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = text.find('\n', at);
      EXPECT_LE(end - at, 100u) << name << ": " << text.substr(at, end - at);
      at = end + 1;
    }
  };
  check("plimsoll", program_help("plimsoll"));
  check("options", options_help());
  check("explain", group_help("explain", "plimsoll"));
  for (const Command& command : commands()) {
    std::string text = command_help(command, "plimsoll");
    check(command.name, text);
    if (!command.examples.empty()) {
      EXPECT_LT(text.find("Examples:"), text.find("Usage:"));
    }
  }
}

TEST(CommandTable, hidden_commands_are_in_no_help) {
  EXPECT_EQ(program_help("plimsoll").find("__complete"), std::string::npos);
}

TEST(CommandTable, examples_are_lines_the_parser_takes) {
  for (const Command& command : commands()) {
    for (const Example& example : command.examples) {
      std::vector<std::string> words;
      std::string word;
      char quote = 0;
      for (char c : std::string(example.line) + " ") {
        if (quote != 0) {
          if (c == quote)
            quote = 0;
          else
            word += c;
        } else if (c == '\'' || c == '"') {
          quote = c;
        } else if (c == ' ') {
          if (word == ">") break;
          if (!word.empty()) words.push_back(std::exchange(word, ""));
        } else {
          word += c;
        }
      }
      auto line = parse_line(agent_words(words));
      ASSERT_TRUE(line) << example.line << ": " << line.error().what;
      EXPECT_EQ(line->command, &command) << example.line;
    }
  }
}

TEST(CommandTable, environment_names_follow_the_rule) {
  const Command* doctor = find_command("doctor");
  EXPECT_EQ(environment_name(doctor, *find_flag(doctor, "host-root")), "PLIMSOLL_DOCTOR_HOST_ROOT");
  EXPECT_EQ(environment_name(find_command("explain error"), *find_flag(nullptr, "output")),
            "PLIMSOLL_EXPLAIN_ERROR_OUTPUT");
  EXPECT_EQ(environment_name(nullptr, *find_flag(nullptr, "context")), "PLIMSOLL_CONTEXT");
}

TEST(CommandTable, choices_with_a_template_need_one) {
  EXPECT_TRUE(is_choice("json|jsonpath=", "json"));
  EXPECT_TRUE(is_choice("json|jsonpath=", "jsonpath={.a}"));
  EXPECT_FALSE(is_choice("json|jsonpath=", "jsonpath="));
  EXPECT_FALSE(is_choice("json|jsonpath=", "yaml"));
}

TEST(Errors, codes_are_found_in_any_spelling) {
  for (std::string_view text : {"PLM-1203", "plm-1203", "1203"}) {
    const ErrorEntry* found = find_error(text);
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(found->code, Plm::unauthorized);
  }
  for (std::string_view text : {"", "PLM-", "PLM-9999", "PLM-12x", "x1203"})
    EXPECT_EQ(find_error(text), nullptr) << text;
}

TEST(Errors, every_code_has_one_row_and_at_most_three_lines) {
  std::set<Plm> seen;
  for (const ErrorEntry& error : error_table()) {
    EXPECT_TRUE(seen.insert(error.code).second);
    Failure failure{.code = error.code, .what = "it\nbroke \x1b[31m", .tried = "th\r\nis"};
    std::string text = format_failure(failure, "plimsoll");
    EXPECT_LE(std::ranges::count(text, '\n'), 3);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find(code_name(error.code)), std::string::npos);
  }
}

TEST(Errors, exit_codes_follow_the_kind_of_error) {
  EXPECT_EQ(request_failure(fail(Code::not_found, "x"), "").exit, 4);
  EXPECT_EQ(request_failure(fail(Code::timeout, "x"), "").exit, 5);
  EXPECT_EQ(request_failure(fail(Code::unavailable, "x"), "").exit, 1);
  EXPECT_EQ(request_failure(fail(Code::already_exists, "x"), "").exit, 3);
  EXPECT_EQ(request_failure(fail(Code::unauthorized, "x"), "").code, Plm::unauthorized);
  EXPECT_EQ(request_failure(fail(Code::internal, "x"), "").code, Plm::server_failed);
}

}  // namespace
}  // namespace plim::cli
