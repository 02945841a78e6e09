// Tables as kubectl prints them: upper-case headers, three spaces between columns, no trailing
// spaces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.hpp"

namespace plim {

// Cells may contain any text: control characters are escaped, and only the first of several lines
// is shown, followed by "...".
class Table {
 public:
  enum class Shown { always, wide };  // wide: only with -o wide

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

  // One cell per column, including wide ones. An empty cell is printed empty; callers pass <none>
  // where kubectl does.
  void add(std::vector<Cell> row);

  bool empty() const { return rows_.empty(); }

  std::string render(Style style) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace plim
