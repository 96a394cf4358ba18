/* A real HTTP server on loopback, in a child process, and one request to it. What it answers is up to the program. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t delay)
{
    struct timespec span;
    span.tv_sec = (time_t)(delay / 1000000000);
    span.tv_nsec = (long)(delay % 1000000000);
    while (nanosleep(&span, &span) != 0) {
    }
}

/* What the server sends as answer number `request`, counted from 0, at that time. */
typedef const char *(*answer_to)(int request, uint64_t now);

static void serve(int listener, answer_to answer)
{
    int request;
    for (request = 0;; request++) {
        char question[1024];
        const char *text = answer(request, now_ns());
        int client = accept(listener, NULL, NULL);
        if (client < 0)
            exit(1);
        if (read(client, question, sizeof question) <= 0 || write(client, text, strlen(text)) < 0)
            exit(1);
        close(client);
    }
}

/* Starts the server; gives its process, and its port through `port`. */
static pid_t start_server(answer_to answer, in_port_t *port)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    pid_t child;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 8) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("loopback");
        exit(1);
    }
    *port = address.sin_port;
    child = fork();
    if (child == 0)
        serve(listener, answer);
    close(listener);
    return child;
}

static void stop_server(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Asks once; gives the status code, and the seconds of Retry-After (0: none) through `retry_after`. */
static int get(in_port_t port, unsigned long *retry_after)
{
    static const char question[] = "GET / HTTP/1.0\r\n\r\n";
    struct sockaddr_in address;
    char text[1024], *field;
    ssize_t length = 0, more;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = port;
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0 ||
        write(connection, question, sizeof question - 1) < 0) {
        perror("loopback");
        exit(1);
    }
    while ((more = read(connection, text + length, sizeof text - 1 - (size_t)length)) > 0)
        length += more;
    close(connection);
    text[length] = 0;
    field = strstr(text, "Retry-After: ");
    *retry_after = field ? strtoul(field + 13, NULL, 10) : 0;
    return atoi(text + 9);
}

#endif
