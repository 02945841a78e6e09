// Tables as kubectl prints them: upper-case headers, three blanks between columns, no trailing
// ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.hpp"

namespace plim {

// Cells are foreign text: control characters are shown escaped, and of several lines only the
// first, marked with "...".
class Table {
 public:
  enum class Shown { always, wide };  // wide: with -o wide only

  struct Column {
    std::string header;
    Shown shown = Shown::always;
  };

  struct Cell {
    Cell(std::string t) : text(std::move(t)) {}  // NOLINT(google-explicit-constructor)

    Cell(const char* t) : text(t) {}  // NOLINT(google-explicit-constructor)

    Cell(std::string_view t) : text(t) {}  // NOLINT(google-explicit-constructor)

    Cell(std::string t, Color c) : text(std::move(t)), color(c) {}

    std::string text;
    Color color = Color::none;
  };

  struct Style {
    bool wide = false;
    bool headers = true;
    bool color = false;
  };

  explicit Table(std::vector<Column> columns);

  // One cell per column, wide ones too. An empty cell is printed as it is; kubectl's <none> is the
  // caller's choice.
  void add(std::vector<Cell> row);

  bool empty() const { return rows_.empty(); }

  std::string render(Style style) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace plim
