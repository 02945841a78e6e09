// What of a process stays in memory without need.
#pragma once

namespace plim {

// For daemons, once they run: lets go of the pages of code that only the start needed (arguments,
// configuration, handshakes). What is needed again comes back from the page cache by itself.
void forget_code_of_start();

}  // namespace plim
