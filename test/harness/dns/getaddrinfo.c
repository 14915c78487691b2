/* Prints the addresses of a name as libc resolves it, or the error. Linked statically with musl. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

int main(int argc, char **argv) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *each;
  int code = argc > 1 ? getaddrinfo(argv[1], NULL, &hints, &found) : EAI_NONAME;
  if (code != 0) {
    printf("%s\n", gai_strerror(code));
    return 1;
  }
  for (each = found; each; each = each->ai_next) {
    char text[INET6_ADDRSTRLEN];
    getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    puts(text);
  }
  return 0;
}
